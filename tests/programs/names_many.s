# 200,000 names, so that making the reports of a program takes a while.
        .altmacro
        .macro  name number
many_names_\number:
        nop
        .endm
        .set    number, 0
        .text
        .rept   200000
        name    %number
        .set    number, number + 1
        .endr
        .section .note.GNU-stack, "", %progbits
