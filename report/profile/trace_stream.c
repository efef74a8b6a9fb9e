#include "report/profile/trace_stream.h"

#define TIME_MOST (1ull << 62)

/* False: it is cut off, or too large. */
static bool take_number(struct trace_stream *stream, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && stream->at < stream->have; shift += 7) {
        uint64_t byte = stream->bytes[stream->at++];
        if (shift == 63 && byte > 1)
            return false;
        *number |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* What is no sample. */
static bool take_time(struct trace_stream *stream, unsigned kind)
{
    uint64_t number;
    if (!take_number(stream, &number) || number > TIME_MOST)
        return false;
    switch (kind) {
    case PROFILE_TRACE_GAP:
        stream->end_ns += number;
        break;
    case PROFILE_TRACE_WEIGHT:
        stream->weight_ns = number;
        break;
    case PROFILE_TRACE_PERIOD:
        stream->period_ns = number;
        break;
    case PROFILE_TRACE_TIME:
        stream->end_ns = number;
        break;
    default:
        return false;
    }
    return stream->end_ns <= TIME_MOST;
}

/* Of the record that begins with that byte. */
static bool take_pair(struct trace_stream *stream, unsigned kind, uint64_t *pair)
{
    uint32_t place = PROFILE_TRACE_PLACES - 1;
    uint64_t apart;
    if (kind < PROFILE_TRACE_NEW) {
        place = kind < PROFILE_TRACE_SEVERAL ? kind : kind - PROFILE_TRACE_SEVERAL;
        *pair = stream->table[place];
    } else {
        if (!take_number(stream, &apart))
            return false;
        stream->last_node += (uint32_t)((apart >> 1) ^ -(apart & 1));
        *pair = PROFILE_TRACE_PAIR(stream->last_node, kind & 7);
    }
    profile_trace_to_front(stream->table, place, *pair);
    return true;
}

static bool take_samples(struct trace_stream *stream, unsigned kind, struct trace_record *record)
{
    bool several = kind >= PROFILE_TRACE_SEVERAL && !(kind >= PROFILE_TRACE_NEW && kind < PROFILE_TRACE_NEW_SEVERAL);
    uint64_t more = 0;
    if (!take_pair(stream, kind, &record->pair) || (several && (!take_number(stream, &more) || more > UINT32_MAX - 2)))
        return false;
    record->count = several ? more + 2 : 1;
    if (__builtin_mul_overflow(record->count, stream->period_ns, &record->length_ns))
        return false;
    if (stream->weight_ns)
        record->length_ns = stream->weight_ns;
    stream->weight_ns = 0;
    record->begin_ns = stream->end_ns;
    if (record->length_ns > TIME_MOST - record->begin_ns)
        return false;
    stream->end_ns += record->length_ns;
    return true;
}

/* The byte of a record, or that of one which it has the samples of. */
static unsigned take_kind(struct trace_stream *stream)
{
    unsigned kind = stream->second ? stream->second : stream->bytes[stream->at++];
    stream->second = 0;
    if (kind < PROFILE_TRACE_TWO || kind >= PROFILE_TRACE_END)
        return kind;
    kind -= PROFILE_TRACE_TWO;
    stream->second = 1 + kind % PROFILE_TRACE_SECOND;
    return 1 + kind / PROFILE_TRACE_SECOND;
}

bool trace_stream_next(struct trace_stream *stream, struct trace_record *record)
{
    while ((stream->second || stream->at < stream->have) && !stream->damaged) {
        unsigned kind = take_kind(stream);
        if (kind < PROFILE_TRACE_GAP && take_samples(stream, kind, record))
            return true;
        stream->damaged = kind < PROFILE_TRACE_GAP || !take_time(stream, kind);
    }
    return false;
}
