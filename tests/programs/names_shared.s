# Debug information as dwz leaves it: what several units share is in a partial unit, which tells no language. The address 2 bytes into
# names_shared is in ns::inlined(), inlined. DWARF 4; read, never run.
        .text
        .globl  names_shared
        .type   names_shared, %function
names_shared:
        .skip   8, 0
        .size   names_shared, 8
.Lend:
        .section .debug_abbrev,"",%progbits
        .uleb128 1, 0x3c              /* partial_unit, children */
        .byte   1
        .byte   0, 0
        .uleb128 2                    /* namespace, children */
        .uleb128 0x39
        .byte   1
        .uleb128 3, 8, 0, 0           /* name, string */
        .uleb128 3                    /* subprogram */
        .uleb128 0x2e
        .byte   0
        .uleb128 3, 8, 0x20, 0xb, 0, 0 /* name, string; inline, data1 */
        .uleb128 4                    /* compile_unit, children */
        .uleb128 0x11
        .byte   1
        .uleb128 0x13, 0xb, 3, 8, 0x11, 1, 0x12, 6, 0, 0 /* language, name, low_pc, high_pc */
        .uleb128 5                    /* subprogram, children */
        .uleb128 0x2e
        .byte   1
        .uleb128 3, 8, 0x11, 1, 0x12, 6, 0, 0
        .uleb128 6                    /* inlined_subroutine */
        .uleb128 0x1d
        .byte   0
        .uleb128 0x31, 0x10, 0x11, 1, 0x12, 6, 0, 0 /* abstract_origin, ref_addr */
        .byte   0
        .section .debug_info,"",%progbits
.Lpartial:
        .long   .Lpartial_end - .Lpartial_begin
.Lpartial_begin:
        .short  4
        .long   0
        .byte   8
        .uleb128 1
        .uleb128 2
        .asciz  "ns"
.Linlined:
        .uleb128 3
        .asciz  "inlined"
        .byte   3
        .byte   0
        .byte   0
.Lpartial_end:
        .long   .Lunit_end - .Lunit_begin
.Lunit_begin:
        .short  4
        .long   0
        .byte   8
        .uleb128 4
        .byte   4                     /* C++ */
        .asciz  "shared.cc"
        .quad   names_shared
        .long   8
        .uleb128 5
        .asciz  "names_shared"
        .quad   names_shared
        .long   8
        .uleb128 6
        .long   .Linlined - .Lpartial
        .quad   names_shared + 2
        .long   4
        .byte   0
        .byte   0
.Lunit_end:
        .section .note.GNU-stack,"",%progbits
