#include "unwind/r.h"

#include <string.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "base/module_flags.h"
#include "base/os.h"
#include "unwind/loadmap.h"

/* Symbols of libR.so; NULL if the process does not contain R. */
extern const uintptr_t R_GlobalContext __attribute__((weak)), R_NilValue __attribute__((weak)),
    R_SrcrefSymbol __attribute__((weak));
extern const unsigned char Rf_eval[] __attribute__((weak));

/* maximum number of records in one stack frame that belong to no function; R has one or two there */
#define MAX_OTHERS 64u
#define MAX_NAME   255u /* maximum number of bytes of a name; a longer one is truncated */
#define KNOWN      1024u

/* The parts of R 4.2's layout, and its constants, that we use; from src/include/Defn.h (RCNTXT, SEXPREC) and
 * Rinternals.h. The lower 5 bits of an object's first byte are its type. */
enum r_layout {
    R_RECORD_BYTES = 264,
    R_RECORD_NEXT = 0,
    R_RECORD_FLAGS = 8,
    R_RECORD_FUNCTION = 232,
    R_RECORD_CALL = 248,
    R_RECORD_ENVIRONMENT = 256,
    R_IS_FUNCTION = 4,

    R_OBJECT_BYTES = 48,
    R_OBJECT_FIRST = 32, /* of a symbol: its name; of a call: the called object */
    R_OBJECT_REST = 40,
    R_TEXT_LENGTH = 32,
    R_TEXT = 48,

    R_TYPE = 31,
    R_NIL = 0,
    R_SYMBOL = 1,
    R_CLOSURE = 3,
    R_ENVIRONMENT = 4,
    R_CALL = 6,
    R_LIST = 2,
    R_CHARACTERS = 9,
};

enum checked { NOT_YET, SOUND, UNSOUND };

/* Only the thread that runs R writes here, because other threads' frames contain no R records. Symbols are
 * never freed, so they can be cached by address. */
static struct {
    /* addresses of three variables of R; NULL: the process does not contain R */
    const uintptr_t *records, *nil, *srcref;
    uint32_t checked; /* enum checked */
    struct {
        uintptr_t symbol;
        uint32_t module_id;
    } known[KNOWN];
} r;

struct object {
    unsigned char bytes[R_OBJECT_BYTES];
};

static uintptr_t r_word(const unsigned char *from, size_t offset)
{
    uintptr_t word;
    memcpy(&word, from + offset, sizeof(word));
    return word;
}

static bool r_is_a(const struct object *object, unsigned type)
{
    return (object->bytes[0] & R_TYPE) == type;
}

static bool r_read_object(uintptr_t address, unsigned type, struct object *object)
{
    return address % sizeof(uintptr_t) == 0 && os_copy_memory(object, address, sizeof(*object)) && r_is_a(object, type);
}

static bool r_read_name(uintptr_t address, char name[MAX_NAME + 1])
{
    struct object symbol, text;
    if (!r_read_object(address, R_SYMBOL, &symbol))
        return false;
    uintptr_t characters = r_word(symbol.bytes, R_OBJECT_FIRST);
    if (!r_read_object(characters, R_CHARACTERS, &text))
        return false;
    uintptr_t length = r_word(text.bytes, R_TEXT_LENGTH);
    length = length < MAX_NAME ? length : MAX_NAME;
    name[length] = '\0';
    return length && os_copy_memory(name, characters + R_TEXT, length);
}

/* Returns true if the objects that exist in every R have the expected layout: the empty list contains itself,
 * and a known symbol has its name. */
static bool r_is_sound(void)
{
    struct object nil;
    char name[MAX_NAME + 1];
    return r_read_object(*r.nil, R_NIL, &nil) && r_word(nil.bytes, R_OBJECT_FIRST) == *r.nil &&
           r_word(nil.bytes, R_OBJECT_REST) == *r.nil && r_read_name(*r.srcref, name) && strcmp(name, "srcref") == 0;
}

void r_init(void)
{
    r.checked = NOT_YET;
    r.records = NULL;
    if (!&R_GlobalContext || !&R_NilValue || !&R_SrcrefSymbol || !Rf_eval || !loadmap_find((uintptr_t)Rf_eval))
        return;
    r.records = &R_GlobalContext;
    r.nil = &R_NilValue;
    r.srcref = &R_SrcrefSymbol;
    loadmap_flag((uintptr_t)Rf_eval, PROFILE_MODULE_INTERPRETER | PROFILE_MODULE_R);
}

bool r_found(const char **why_not)
{
    *why_not = r.checked == UNSOUND ? "its objects differ from those of R 4" : NULL;
    return r.records != NULL;
}

void r_begin(struct r_walk *walk)
{
    *walk = (struct r_walk){0};
    if (!r.records || !*r.records || !*r.nil || !*r.srcref) /* R has not started yet */
        return;
    if (unlikely(load_relaxed(&r.checked) == NOT_YET))
        store_relaxed(&r.checked, r_is_sound() ? SOUND : UNSOUND);
    walk->record = load_relaxed(&r.checked) == SOUND ? *r.records : 0;
}

static bool r_read_record(struct r_walk *walk, unsigned char record[R_RECORD_BYTES])
{
    uintptr_t address = walk->record;
    walk->record = 0;
    if (!os_copy_memory(record, address, R_RECORD_BYTES))
        return false;
    uintptr_t next = r_word(record, R_RECORD_NEXT);
    /* the outermost record is R's own, not a local variable of a function */
    walk->record = next > address && next % sizeof(next) == 0 ? next : 0;
    return true;
}

enum python_kind r_meet(struct r_walk *walk, const struct unwind_frame *frame)
{
    unsigned char record[R_RECORD_BYTES];
    walk->end = frame->cfa;
    /* these records are in stack frames that the walk did not report */
    while (walk->record && walk->record < frame->stack) {
        if (walk->passed++ == PYTHON_MAX_PASSED) {
            walk->record = 0;
            walk->broken = true;
            return PYTHON_LOOP;
        }
        r_read_record(walk, record);
    }
    return walk->record && walk->record < frame->cfa ? PYTHON_LOOP : PYTHON_GLUE;
}

static uint32_t r_slot_of_symbol(uintptr_t symbol)
{
    return hash_number(symbol) >> 32 & (KNOWN - 1);
}

/* Returns the cached module number of a symbol's function; 0 if the symbol is not in the cache. */
static uint32_t r_known_symbol(uintptr_t symbol)
{
    uint32_t place = r_slot_of_symbol(symbol);
    return r.known[place].symbol == symbol ? r.known[place].module_id : 0;
}

/* Returns the symbol f of a call `f(...)`, `package::f(...)` or `object$f(...)`; 0 if the called object has
 * no name. */
static uintptr_t r_symbol_of_call(const struct object *call)
{
    struct object called, rest;
    uintptr_t first = r_word(call->bytes, R_OBJECT_FIRST);
    if (r_known_symbol(first) || !os_copy_memory(&called, first, sizeof(called)) || r_is_a(&called, R_SYMBOL))
        return first;
    if (!r_is_a(&called, R_CALL) || !r_read_object(r_word(called.bytes, R_OBJECT_REST), R_LIST, &rest) ||
        !r_read_object(r_word(rest.bytes, R_OBJECT_REST), R_LIST, &rest))
        return 0;
    first = r_word(rest.bytes, R_OBJECT_FIRST);
    return r_read_object(first, R_SYMBOL, &called) ? first : 0;
}

/* Returns the module number of a symbol's function; 0 if there is no room, or if `symbol` is not a symbol. */
static uint32_t r_module_of_symbol(uintptr_t symbol)
{
    uint32_t place = r_slot_of_symbol(symbol), known = r_known_symbol(symbol);
    if (known)
        return known;
    char name[MAX_NAME + 1] = "<anonymous>";
    if (symbol && !r_read_name(symbol, name))
        return 0;
    struct module_function function = {.digest = hash_bytes(name, strlen(name)), .path = "[R]", .name = name};
    r.known[place].symbol = symbol;
    return r.known[place].module_id = module_function(&function);
}

bool r_next(struct r_walk *walk, struct python_place *place, bool *broken)
{
    unsigned char record[R_RECORD_BYTES];
    struct object call, function, environment;
    uint32_t flags, others = 0;
    *broken = walk->broken;
    walk->broken = false;
    do {
        if (!walk->record || walk->record >= walk->end)
            return false;
        *broken = others++ == MAX_OTHERS || !r_read_record(walk, record);
        memcpy(&flags, record + R_RECORD_FLAGS, sizeof(flags));
    } while (!*broken &&
             /* these are records of loops and promises; the function's own record is further outward */
             !(flags & R_IS_FUNCTION));
    const struct os_part parts[] = {{&call, r_word(record, R_RECORD_CALL), sizeof(call)},
                                    {&function, r_word(record, R_RECORD_FUNCTION), sizeof(function)},
                                    {&environment, r_word(record, R_RECORD_ENVIRONMENT), sizeof(environment)}};
    if (*broken || !os_copy_parts(parts, 3) || !r_is_a(&call, R_CALL) || !r_is_a(&function, R_CLOSURE) ||
        !r_is_a(&environment, R_ENVIRONMENT))
        return !(*broken = true);
    *place = (struct python_place){.module_id = r_module_of_symbol(r_symbol_of_call(&call))};
    *broken = !place->module_id;
    return !*broken;
}
