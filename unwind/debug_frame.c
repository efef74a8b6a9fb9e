#include "unwind/debug_frame.h"

#include <string.h>

#include "base/os.h"
#include "unwind/cfi_bytes.h"

#define MAX_SECTIONS 512u

/* Skips one entry of the section. If it belongs to a function, stores it in *entry and returns true. */
static bool debug_frame_read_entry(struct cfi_bytes *section, struct debug_frame_entry *entry)
{
    entry->at = cfi_bytes_vaddr(section);
    uint64_t bytes = cfi_read_unsigned(section, 4);
    bool wide = bytes == CFI_WIDE_LENGTH;
    if (wide)
        bytes = cfi_read_unsigned(section, 8);
    struct cfi_bytes body = cfi_take(section, bytes);
    uint64_t common = cfi_read_unsigned(&body, wide ? 8 : 4);
    entry->start = cfi_read_unsigned(&body, 8);
    return !body.failed && common != cfi_common_id(wide);
}

/* Returns the number of functions that start in [low, high). Stores their entries if `entries` is not NULL. */
static size_t debug_frame_list_entries(struct cfi_bytes section, uintptr_t low, uintptr_t high,
                                       struct debug_frame_entry *entries)
{
    size_t count = 0;
    struct debug_frame_entry entry;
    while (section.at < section.end) {
        bool wanted =
            debug_frame_read_entry(&section, &entry) && entry.start >= low && entry.start < high && entry.start != 0;
        if (section.failed)
            break;
        if (wanted && entries)
            entries[count] = entry;
        count += wanted;
    }
    return count;
}

static void debug_frame_sift_down(struct debug_frame_entry *entries, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && entries[child].start < entries[child + 1].start;
        if (entries[at].start >= entries[child].start)
            return;
        struct debug_frame_entry entry = entries[at];
        entries[at] = entries[child];
        entries[child] = entry;
    }
}

/* Sorts the entries by start. Most sections are sorted already. Heapsort needs neither memory nor recursion. */
static void debug_frame_sort_entries(struct debug_frame_entry *entries, size_t count)
{
    size_t ordered = 1;
    while (ordered < count && entries[ordered - 1].start <= entries[ordered].start)
        ordered++;
    if (ordered >= count)
        return;
    for (size_t at = count / 2; at-- > 0;)
        debug_frame_sift_down(entries, at, count);
    for (size_t last = count - 1; last > 0; last--) {
        struct debug_frame_entry entry = entries[0];
        entries[0] = entries[last];
        entries[last] = entry;
        debug_frame_sift_down(entries, 0, last);
    }
}

struct debug_frame debug_frame_index(const void *bytes, size_t size, uintptr_t low, uintptr_t high)
{
    struct debug_frame frame = {bytes, size, NULL, 0};
    struct cfi_bytes section = {frame.bytes, frame.bytes + size, 0 - (uintptr_t)bytes, false};
    size_t count = debug_frame_list_entries(section, low, high, NULL);
    struct debug_frame_entry *entries = count ? os_map(count * sizeof(*entries)) : NULL;
    if (!entries)
        return frame;
    debug_frame_list_entries(section, low, high, entries);
    debug_frame_sort_entries(entries, count);
    frame.entries = entries;
    frame.count = count;
    return frame;
}

/* Reads the block with the header of this section, unless it is there. Returns the header; NULL if it cannot be read. */
static const Elf64_Shdr *debug_frame_section(int fd, const Elf64_Ehdr *elf, uint32_t number,
                                             struct debug_frame_room *room)
{
    uint32_t first = number - number % DEBUG_FRAME_HEADERS, left = elf->e_shnum - first;
    size_t bytes = (left < DEBUG_FRAME_HEADERS ? left : DEBUG_FRAME_HEADERS) * sizeof(room->headers[0]);
    if (room->first != first &&
        os_read_at(fd, room->headers, bytes, elf->e_shoff + first * sizeof(room->headers[0])) != (ssize_t)bytes)
        return NULL;
    room->first = first;
    return &room->headers[number - first];
}

static bool debug_frame_read_names(int fd, const Elf64_Ehdr *elf, struct debug_frame_room *room)
{
    const Elf64_Shdr *header = debug_frame_section(fd, elf, elf->e_shstrndx, room);
    if (!header)
        return false;
    size_t bytes = header->sh_size < sizeof(room->names) ? header->sh_size : sizeof(room->names);
    ssize_t read = os_read_at(fd, room->names, bytes, header->sh_offset);
    room->names_bytes = read > 0 ? (size_t)read : 0;
    room->names_at = header->sh_offset;
    return true;
}

static bool is_named_debug_frame(int fd, const Elf64_Shdr *section, const struct debug_frame_room *room)
{
    static const char wanted[] = ".debug_frame";
    char name[sizeof(wanted)];
    const char *text = name;
    if (section->sh_name + sizeof(wanted) <= room->names_bytes)
        text = room->names + section->sh_name;
    else if (os_read_at(fd, name, sizeof(name), room->names_at + section->sh_name) != sizeof(name))
        return false;
    return memcmp(text, wanted, sizeof(wanted)) == 0;
}

static const Elf64_Shdr *debug_frame_find_section(int fd, const Elf64_Ehdr *elf, struct debug_frame_room *room)
{
    uint32_t count = elf->e_shnum < MAX_SECTIONS ? elf->e_shnum : MAX_SECTIONS;
    room->first = UINT32_MAX;
    if (elf->e_shentsize != sizeof(Elf64_Shdr) || elf->e_shstrndx >= count || !debug_frame_read_names(fd, elf, room))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Shdr *section = debug_frame_section(fd, elf, i, room);
        if (!section)
            return NULL;
        if (section->sh_type == SHT_PROGBITS && !(section->sh_flags & (SHF_ALLOC | SHF_COMPRESSED)) &&
            is_named_debug_frame(fd, section, room))
            return section;
    }
    return NULL;
}

struct debug_frame debug_frame_read(int fd, const Elf64_Ehdr *elf, uintptr_t low, uintptr_t high, size_t most,
                                    struct debug_frame_room *room)
{
    struct debug_frame frame = {NULL, 0, NULL, 0};
    const Elf64_Shdr *section = debug_frame_find_section(fd, elf, room);
    if (!section || section->sh_size == 0 || section->sh_size > most)
        return frame;
    void *copy = os_map(section->sh_size);
    if (copy && os_read_at(fd, copy, section->sh_size, section->sh_offset) == (ssize_t)section->sh_size)
        frame = debug_frame_index(copy, section->sh_size, low, high);
    if (copy && frame.count == 0)
        os_unmap(copy, section->sh_size);
    return frame;
}

const struct debug_frame_entry *debug_frame_find(const struct debug_frame *frame, uintptr_t address)
{
    size_t low = 0, high = frame->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (frame->entries[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &frame->entries[low - 1] : NULL;
}
