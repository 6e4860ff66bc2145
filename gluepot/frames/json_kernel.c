/* JSON objects of a known shape to the buffers of Arrow columns: one pass, no Python object per value.
 *
 * The kernel reads what is surely right and nothing else. A key that the shape does not have, a value of another type,
 * a key given twice, text that is not UTF-8, anything that is not JSON: such a record is odd. `read` leaves it out and
 * answers with its number, and somebody else reads it, who can say what is wrong with it. Nothing is guessed and nothing
 * is repaired here.
 *
 * All scans stop at the NUL behind a record, which no branch takes for a part of JSON. Bytes of a Python object have one;
 * payloads that lie one after the other are copied, which costs little, as they have to be read anyway.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The order in which json_kernel.py counts them. */
enum kind { NOTHING, BOOLEAN, LONG, DOUBLE, TEXT, OBJECT, LIST, CHOICE, BIG, KINDS };

/* An integer beyond 64 bits: decimal(38,0) of Arrow, of 16 bytes. */
__extension__ typedef unsigned __int128 Big;
enum { BIG_DIGITS = 38 };

typedef struct {
    char *bytes;
    size_t length, capacity;
} Buffer;

typedef struct Column {
    enum kind kind;
    char *key; /* in quotes, as it stands in a record */
    size_t key_length;
    struct Column *children; /* fields of an object, the one item of a list, alternatives of a choice */
    Py_ssize_t child_count;
    int32_t *slots;       /* of an object with many fields: hash table of their numbers, -1 where there is none */
    size_t slot_mask;
    Py_ssize_t expected; /* the child after the one that was found last in the object at hand */
    uint64_t seen_in;    /* number of the object that had this field last */
    int64_t rows, nulls;
    Buffer valid;        /* a byte for each row, from the first null on */
    Buffer offsets;      /* of texts and lists, int32 */
    Buffer data;
} Column;

typedef struct {
    Column root;
    uint64_t objects;
    const char *end; /* of the record at hand */
    Buffer record;   /* a payload with a NUL behind it */
} Reader;

/* ---- Buffers ---- */

static int grow(Buffer *buffer, size_t more) {
    size_t capacity = 2 * buffer->capacity + more + 64;
    char *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL) return 0;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return 1;
}

/* More than enough, so that no buffer is a null pointer. */
static inline int has_room(Buffer *buffer, size_t more) {
    return buffer->capacity - buffer->length > more || grow(buffer, more);
}

static inline int put(Buffer *buffer, const void *bytes, size_t length) {
    if (!has_room(buffer, length)) return 0;
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    return 1;
}

static inline int put_offset(Column *column, size_t offset) {
    int32_t narrow = (int32_t)offset;
    return offset <= INT32_MAX && put(&column->offsets, &narrow, sizeof narrow);
}

/* ---- Rows ---- */

static int add_null(Column *column) {
    static const char zeros[sizeof(Big)] = {0};
    if (column->nulls == 0) {
        if (!has_room(&column->valid, (size_t)column->rows)) return 0;
        memset(column->valid.bytes, 1, (size_t)column->rows);
        column->valid.length = (size_t)column->rows;
    }
    column->rows++;
    column->nulls++;
    if (!put(&column->valid, zeros, 1)) return 0;
    switch (column->kind) {
    case BOOLEAN:
        return put(&column->data, zeros, 1);
    case LONG:
    case DOUBLE:
        return put(&column->data, zeros, 8);
    case BIG:
        return put(&column->data, zeros, sizeof(Big));
    case TEXT:
        return put_offset(column, column->data.length);
    case LIST:
        return put_offset(column, (size_t)column->children[0].rows);
    case OBJECT:
    case CHOICE:
        for (Py_ssize_t i = 0; i < column->child_count; i++)
            if (!add_null(&column->children[i])) return 0;
        return 1;
    default:
        return 1;
    }
}

static inline int add_row(Column *column) {
    column->rows++;
    return column->nulls == 0 || put(&column->valid, "\1", 1);
}

/* Shorten the offsets to those of so many rows; return the last of them. */
static int32_t cut_offsets(Column *column, int64_t rows) {
    int32_t last;
    column->offsets.length = ((size_t)rows + 1) * sizeof last;
    memcpy(&last, column->offsets.bytes + column->offsets.length - sizeof last, sizeof last);
    return last;
}

/* Take back the rows beyond so many: the part of an odd record that was read. */
static void cut(Column *column, int64_t rows) {
    if (column->nulls > 0) {
        for (size_t i = (size_t)rows; i < column->valid.length; i++) column->nulls -= column->valid.bytes[i] == 0;
        column->valid.length = (size_t)rows;
    }
    column->rows = rows;
    switch (column->kind) {
    case BOOLEAN:
        column->data.length = (size_t)rows;
        break;
    case LONG:
    case DOUBLE:
        column->data.length = (size_t)rows * 8;
        break;
    case BIG:
        column->data.length = (size_t)rows * sizeof(Big);
        break;
    case TEXT:
        column->data.length = (size_t)cut_offsets(column, rows);
        break;
    case LIST:
        cut(&column->children[0], cut_offsets(column, rows));
        break;
    case OBJECT:
    case CHOICE:
        for (Py_ssize_t i = 0; i < column->child_count; i++) cut(&column->children[i], rows);
        break;
    default:
        break;
    }
}

/* ---- Text ---- */

static inline const char *skip_space(const char *at) {
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r') at++;
    return at;
}

/* Return the first byte that is a quote, a backslash or a control character; *is_ascii drops to 0 on others than ASCII. */
static inline const char *skip_plain(const char *at, const char *end, int *is_ascii) {
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
    while (end - at >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        __m128i odd = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                                   _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
        unsigned stops = (unsigned)_mm_movemask_epi8(odd), high = (unsigned)_mm_movemask_epi8(bytes);
        if (stops != 0) {
            int length = __builtin_ctz(stops);
            if (high & ((1u << length) - 1)) *is_ascii = 0;
            return at + length;
        }
        if (high) *is_ascii = 0;
        at += 16;
    }
#endif
    for (;; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte < 0x20 || byte == '"' || byte == '\\') return at;
        if (byte >= 0x80) *is_ascii = 0;
    }
}

/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
static int is_utf8(const unsigned char *at, const unsigned char *end) {
    while (at < end) {
        unsigned char first = *at++;
        if (first < 0x80) continue;
        int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first > 0xf4 || end - at < more) return 0;
        unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (*at < low || *at > high) return 0;
        for (at++; --more > 0; at++)
            if ((*at & 0xc0) != 0x80) return 0;
    }
    return 1;
}

/* Return the number that four hexadecimal digits stand for, or -1. */
static int32_t hexadecimal(const char *at) {
    int32_t number = 0;
    for (int i = 0; i < 4; i++) {
        char digit = at[i];
        int value = digit >= '0' && digit <= '9'   ? digit - '0'
                    : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                    : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                   : -1;
        if (value < 0) return -1;
        number = number * 16 + value;
    }
    return number;
}

static const char *read_escape(Buffer *data, const char *at) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char name = *at++;
    if (name != 'u') {
        const char *found = name == 0 ? NULL : strchr(names, name);
        return found != NULL && put(data, &values[found - names], 1) ? at : NULL;
    }
    int32_t code = hexadecimal(at);
    if (code <= 0) return NULL; /* U+0000 is left to others, too */
    at += 4;
    if (code >= 0xd800 && code < 0xe000) {
        int32_t low = code < 0xdc00 && at[0] == '\\' && at[1] == 'u' ? hexadecimal(at + 2) : -1;
        if (low < 0xdc00 || low >= 0xe000) return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    }
    char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char firsts[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(firsts[length] | code);
    return put(data, bytes, length) ? at : NULL;
}

static const char *read_text(Column *column, const char *at, const char *end) {
    Buffer *data = &column->data;
    size_t start = data->length;
    int is_ascii = 1;
    if (*at++ != '"') return NULL;
    for (;;) {
        const char *stop = skip_plain(at, end, &is_ascii);
        if (!put(data, at, (size_t)(stop - at))) return NULL;
        at = stop + 1;
        if (*stop == '"') break;
        if (*stop != '\\') return NULL;
        at = read_escape(data, at);
        if (at == NULL) return NULL;
    }
    const unsigned char *bytes = (const unsigned char *)data->bytes;
    if (!is_ascii && !is_utf8(bytes + start, bytes + data->length)) return NULL;
    return add_row(column) && put_offset(column, data->length) ? at : NULL;
}

/* ---- Numbers ---- */

static inline int is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/* Read digits into *number, modulo 2^64. */
static inline const char *read_digits(const char *at, uint64_t *number) {
    for (; is_digit(*at); at++) *number = 10 * *number + (uint64_t)(*at - '0');
    return at;
}

static const char *read_long(Column *column, const char *at) {
    int is_negative = *at == '-';
    at += is_negative;
    uint64_t magnitude = 0;
    const char *stop = read_digits(at, &magnitude);
    if (stop == at || stop - at > 19 || (*at == '0' && stop - at > 1)) return NULL;
    if (*stop == '.' || *stop == 'e' || *stop == 'E') return NULL;
    if (magnitude > (uint64_t)INT64_MAX + (uint64_t)is_negative) return NULL;
    uint64_t value = is_negative ? 0 - magnitude : magnitude;
    return add_row(column) && put(&column->data, &value, sizeof value) ? stop : NULL;
}

/* Read an integer that has no 64 bits, but at most 38 digits. */
static const char *read_big(Column *column, const char *at) {
    int is_negative = *at == '-';
    at += is_negative;
    Big value = 0;
    const char *stop = at;
    for (; is_digit(*stop) && stop - at <= BIG_DIGITS; stop++) value = 10 * value + (Big)(*stop - '0');
    if (stop == at || stop - at > BIG_DIGITS || *at == '0') return NULL;
    if (*stop == '.' || *stop == 'e' || *stop == 'E') return NULL;
    if (value <= (Big)INT64_MAX + (Big)is_negative) return NULL;
    if (is_negative) value = 0 - value;
    return add_row(column) && put(&column->data, &value, sizeof value) ? stop : NULL;
}

/* Return the kind of the number that begins here; NOTHING for an integer of more than 38 digits. */
static enum kind kind_of_number(const char *at) {
    int is_negative = *at == '-';
    at += is_negative;
    uint64_t magnitude = 0;
    const char *stop = read_digits(at, &magnitude);
    if (*stop == '.' || *stop == 'e' || *stop == 'E') return DOUBLE;
    if (stop - at <= 19 && magnitude <= (uint64_t)INT64_MAX + (uint64_t)is_negative) return LONG;
    return stop - at <= BIG_DIGITS ? BIG : NOTHING;
}

static const char *read_double(Column *column, const char *at) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *number = at;
    int is_negative = *at == '-';
    at += is_negative;
    uint64_t digits = 0;
    const char *stop = read_digits(at, &digits);
    if (stop == at || (*at == '0' && stop - at > 1)) return NULL;
    Py_ssize_t digit_count = stop - at;
    int64_t exponent = 0;
    int is_integer = *stop != '.' && *stop != 'e' && *stop != 'E';
    if (*stop == '.') {
        at = stop + 1;
        stop = read_digits(at, &digits);
        if (stop == at) return NULL;
        exponent = at - stop;
        digit_count += stop - at;
    }
    if (*stop == 'e' || *stop == 'E') {
        at = stop + 1;
        int is_small = *at == '-';
        at += is_small || *at == '+';
        uint64_t written = 0;
        stop = read_digits(at, &written);
        if (stop == at) return NULL;
        if (stop - at > 4) digit_count = 20; /* odd enough for the slow way */
        exponent += is_small ? -(int64_t)(written % 100000) : (int64_t)(written % 100000);
    }
    double value;
    if (digit_count <= 19 && digits <= (1ull << 53) && exponent >= -22 && exponent <= 22) {
        /* Both are exact, so that one division or multiplication rounds once (Clinger, 1990). */
        value = exponent < 0 ? (double)digits / powers[-exponent] : (double)digits * powers[exponent];
        if (is_negative) value = -value;
    } else {
        if (is_integer) return NULL; /* beyond 2^53, so that digits may be lost */
        char *ended;
        value = PyOS_string_to_double(number, &ended, NULL);
        if (ended != stop || !isfinite(value)) return NULL;
    }
    return add_row(column) && put(&column->data, &value, sizeof value) ? stop : NULL;
}

/* ---- Values ---- */

static const char *read_value(Reader *reader, Column *column, const char *at);

static const char *read_boolean(Column *column, const char *at) {
    const char *value;
    if (strncmp(at, "true", 4) == 0) {
        value = "\1";
        at += 4;
    } else if (strncmp(at, "false", 5) == 0) {
        value = "\0";
        at += 5;
    } else {
        return NULL;
    }
    return add_row(column) && put(&column->data, value, 1) ? at : NULL;
}

/* Step from the end of an item to the next one, or to the bracket that closes; NULL where neither follows. */
static inline const char *next_item(const char *at, char closing) {
    at = skip_space(at);
    if (*at == closing) return at;
    if (*at != ',') return NULL;
    at = skip_space(at + 1);
    return *at == closing ? NULL : at;
}

static const char *read_list(Reader *reader, Column *column, const char *at) {
    if (*at != '[') return NULL;
    at = skip_space(at + 1);
    while (*at != ']') {
        at = read_value(reader, &column->children[0], at);
        if (at == NULL) return NULL;
        at = next_item(at, ']');
        if (at == NULL) return NULL;
    }
    return add_row(column) && put_offset(column, (size_t)column->children[0].rows) ? at + 1 : NULL;
}

/* Fields that are compared one after the other, from the expected one on, before the hash table is asked. A record that
 * leaves out a few fields is read that way; one with its keys in another order pays for as many comparisons at most. */
enum { COMPARED_IN_TURN = 8 };

static inline uint64_t hash_of(const char *key, size_t length) {
    uint64_t hash = length, word;
    for (; length >= sizeof word; key += sizeof word, length -= sizeof word) {
        memcpy(&word, key, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull; /* 2^64 divided by the golden ratio, as Knuth has it */
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, key, length);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

/* Compare by words; a call of memcmp for a key costs more than the comparison. */
static inline int is_equal(const char *one, const char *other, size_t length) {
    uint64_t left, right;
    if (length < sizeof left) {
        for (size_t i = 0; i < length; i++)
            if (one[i] != other[i]) return 0;
        return 1;
    }
    for (size_t at = 0; at < length; at += sizeof left) {
        if (at + sizeof left > length) at = length - sizeof left;
        memcpy(&left, one + at, sizeof left);
        memcpy(&right, other + at, sizeof right);
        if (left != right) return 0;
    }
    return 1;
}

static inline int has_key(const Column *field, const char *at, const char *end) {
    return (size_t)(end - at) > field->key_length && is_equal(at, field->key, field->key_length);
}

/* Return the number of the field whose key stands here, or -1. No key in the table has a backslash or a quote within, so
 * that a key with one is not found whatever is taken for its end. */
static Py_ssize_t hashed_field(const Column *column, const char *at, const char *end) {
    const char *quote = *at == '"' ? memchr(at + 1, '"', (size_t)(end - at) - 1) : NULL;
    if (quote == NULL) return -1;
    for (size_t slot = hash_of(at, (size_t)(quote + 1 - at));; slot++) {
        Py_ssize_t i = column->slots[slot & column->slot_mask];
        if (i < 0 || has_key(&column->children[i], at, end)) return i;
    }
}

/* Return the field whose key stands here, the one that is expected first. */
static inline Column *find_field(Column *column, const char *at, const char *end) {
    Py_ssize_t i = column->expected, in_turn = column->slots ? COMPARED_IN_TURN : column->child_count;
    for (Py_ssize_t tried = 0; tried < in_turn; tried++, i++) {
        if (i >= column->child_count) i = 0;
        if (has_key(&column->children[i], at, end)) {
            column->expected = i + 1;
            return &column->children[i];
        }
    }
    i = column->slots ? hashed_field(column, at, end) : -1;
    if (i < 0) return NULL;
    column->expected = i + 1;
    return &column->children[i];
}

static const char *read_object(Reader *reader, Column *column, const char *at) {
    if (*at != '{') return NULL;
    uint64_t object = ++reader->objects;
    Py_ssize_t fields = 0;
    column->expected = 0;
    at = skip_space(at + 1);
    while (*at != '}') {
        Column *field = find_field(column, at, reader->end);
        if (field == NULL || field->seen_in == object) return NULL;
        field->seen_in = object;
        fields++;
        at = skip_space(at + field->key_length);
        if (*at != ':') return NULL;
        at = read_value(reader, field, skip_space(at + 1));
        if (at == NULL) return NULL;
        at = next_item(at, '}');
        if (at == NULL) return NULL;
    }
    if (fields < column->child_count)
        for (Py_ssize_t i = 0; i < column->child_count; i++)
            if (column->children[i].seen_in != object && !add_null(&column->children[i])) return NULL;
    return add_row(column) ? at + 1 : NULL;
}

static int begins(enum kind kind, char first) {
    switch (kind) {
    case BOOLEAN:
        return first == 't' || first == 'f';
    case TEXT:
        return first == '"';
    case OBJECT:
        return first == '{';
    case LIST:
        return first == '[';
    default:
        return 0;
    }
}

/* Return which kind of alternative has a number: doubles also take integers where no alternative has these. */
static enum kind numeric_alternative(const Column *column, const char *at) {
    if (*at != '-' && !is_digit(*at)) return NOTHING;
    enum kind kind = kind_of_number(at);
    for (Py_ssize_t i = 0; kind == LONG && i < column->child_count; i++)
        if (column->children[i].kind == LONG) return LONG;
    return kind == LONG ? DOUBLE : kind;
}

static const char *read_choice(Reader *reader, Column *column, const char *at) {
    const char *stop = NULL;
    enum kind numeric = numeric_alternative(column, at);
    for (Py_ssize_t i = 0; i < column->child_count; i++) {
        Column *alternative = &column->children[i];
        int is_number = numeric != NOTHING && alternative->kind == numeric;
        if (stop == NULL && (is_number || begins(alternative->kind, *at))) {
            stop = read_value(reader, alternative, at);
            if (stop == NULL) return NULL;
        } else if (!add_null(alternative)) {
            return NULL;
        }
    }
    return stop != NULL && add_row(column) ? stop : NULL;
}

static const char *read_value(Reader *reader, Column *column, const char *at) {
    if (*at == 'n') return strncmp(at, "null", 4) == 0 && add_null(column) ? at + 4 : NULL;
    switch (column->kind) {
    case BOOLEAN:
        return read_boolean(column, at);
    case LONG:
        return read_long(column, at);
    case DOUBLE:
        return read_double(column, at);
    case BIG:
        return read_big(column, at);
    case TEXT:
        return read_text(column, at, reader->end);
    case OBJECT:
        return read_object(reader, column, at);
    case LIST:
        return read_list(reader, column, at);
    case CHOICE:
        return read_choice(reader, column, at);
    default:
        return NULL;
    }
}

static int read_record(Reader *reader, const char *record, Py_ssize_t length) {
    reader->end = record + length;
    const char *at = read_object(reader, &reader->root, skip_space(record));
    return at != NULL && skip_space(at) == reader->end;
}

/* ---- What Python sees ---- */

static int clear_rows(Column *column) {
    column->rows = column->nulls = 0;
    column->valid.length = column->offsets.length = column->data.length = 0;
    if ((column->kind == TEXT || column->kind == LIST) && !put_offset(column, 0)) return 0;
    for (Py_ssize_t i = 0; i < column->child_count; i++)
        if (!clear_rows(&column->children[i])) return 0;
    return 1;
}

static void free_column(Column *column) {
    for (Py_ssize_t i = 0; i < column->child_count; i++) free_column(&column->children[i]);
    free(column->children);
    free(column->slots);
    free(column->key);
    free(column->valid.bytes);
    free(column->offsets.bytes);
    free(column->data.bytes);
}

static PyObject *packed(const Buffer *flags) {
    PyObject *bits = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(flags->length + 7) / 8);
    if (bits == NULL) return NULL;
    char *bytes = PyBytes_AsString(bits);
    memset(bytes, 0, (flags->length + 7) / 8);
    for (size_t i = 0; i < flags->length; i++) bytes[i / 8] |= (char)(flags->bytes[i] << (i % 8));
    return bits;
}

static PyObject *copied(const Buffer *buffer) {
    return PyBytes_FromStringAndSize(buffer->bytes, (Py_ssize_t)buffer->length);
}

static int append_taken(PyObject *list, PyObject *item) {
    int failed = item == NULL || PyList_Append(list, item) < 0;
    Py_XDECREF(item);
    return !failed;
}

/* Append `(rows, nulls, [buffers])` of a column and those below it, as Arrow's layout orders buffers. */
static int append_columns(PyObject *list, const Column *column) {
    PyObject *buffers = PyList_New(0);
    if (buffers == NULL) return 0;
    int done = append_taken(buffers, column->nulls ? packed(&column->valid) : Py_NewRef(Py_None));
    if (column->kind == TEXT || column->kind == LIST) done = done && append_taken(buffers, copied(&column->offsets));
    if (column->kind == BOOLEAN) done = done && append_taken(buffers, packed(&column->data));
    if (column->kind == LONG || column->kind == DOUBLE || column->kind == TEXT || column->kind == BIG)
        done = done && append_taken(buffers, copied(&column->data));
    if (!done) {
        Py_DECREF(buffers);
        return 0;
    }
    PyObject *told = Py_BuildValue("LLN", (long long)column->rows, (long long)column->nulls, buffers);
    if (!append_taken(list, told)) return 0;
    for (Py_ssize_t i = 0; i < column->child_count; i++)
        if (!append_columns(list, &column->children[i])) return 0;
    return 1;
}

static const char CAPSULE[] = "gluepot.frames._json_kernel.Reader";

static void free_reader(PyObject *capsule) {
    Reader *reader = PyCapsule_GetPointer(capsule, CAPSULE);
    if (reader == NULL) return;
    free_column(&reader->root);
    free(reader->record.bytes);
    free(reader);
}

/* Make the hash table of an object's fields, at most half full. */
static int index_fields(Column *column) {
    size_t size = 1;
    while (size < 2 * (size_t)column->child_count) size *= 2;
    column->slots = malloc(size * sizeof *column->slots);
    if (column->slots == NULL) return 0;
    memset(column->slots, -1, size * sizeof *column->slots);
    column->slot_mask = size - 1;
    for (Py_ssize_t i = 0; i < column->child_count; i++) {
        size_t slot = hash_of(column->children[i].key, column->children[i].key_length);
        while (column->slots[slot & column->slot_mask] >= 0) slot++;
        column->slots[slot & column->slot_mask] = (int32_t)i;
    }
    return 1;
}

/* Fill a column from `(kind, key in quotes, (child, ...))`. */
static int set_up(Column *column, PyObject *shape) {
    int kind;
    const char *key;
    Py_ssize_t key_length;
    PyObject *children;
    if (!PyArg_ParseTuple(shape, "iy#O!", &kind, &key, &key_length, &PyTuple_Type, &children)) return 0;
    Py_ssize_t count = PyTuple_Size(children);
    if (kind < 0 || kind >= KINDS || (kind == LIST ? count != 1 : (kind < OBJECT || kind == BIG) && count != 0)) {
        PyErr_SetString(PyExc_ValueError, "no such column");
        return 0;
    }
    column->kind = (enum kind)kind;
    column->key = malloc((size_t)key_length + 1);
    column->children = calloc((size_t)count + 1, sizeof(Column));
    if (column->key == NULL || column->children == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    memcpy(column->key, key, (size_t)key_length);
    column->key_length = (size_t)key_length;
    column->child_count = count;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!set_up(&column->children[i], PyTuple_GetItem(children, i))) return 0;
    if (kind == OBJECT && count > COMPARED_IN_TURN && !index_fields(column)) {
        PyErr_NoMemory();
        return 0;
    }
    return 1;
}

static PyObject *reader_of(PyObject *module, PyObject *shape) {
    (void)module;
    Reader *reader = calloc(1, sizeof(Reader));
    if (reader == NULL) return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(reader, CAPSULE, free_reader);
    if (capsule == NULL) {
        free(reader);
        return NULL;
    }
    if (!PyTuple_Check(shape)) {
        PyErr_SetString(PyExc_TypeError, "a shape is a tuple");
    } else if (set_up(&reader->root, shape)) {
        return capsule;
    }
    Py_DECREF(capsule);
    return NULL;
}

/* Return `(columns, odd, end)`, and take `odd` in any case. */
static PyObject *told(Reader *reader, PyObject *odd, Py_ssize_t end) {
    PyObject *columns = PyList_New(0);
    if (columns != NULL && append_columns(columns, &reader->root)) return Py_BuildValue("NNn", columns, odd, end);
    Py_XDECREF(columns);
    Py_DECREF(odd);
    return NULL;
}

/* Take back what was read of a record, and note it as odd. */
static int set_aside(Reader *reader, int64_t rows, PyObject *odd, Py_ssize_t number) {
    PyErr_Clear(); /* of a number beyond all doubles, say */
    cut(&reader->root, rows);
    return append_taken(odd, PyLong_FromSsize_t(number));
}

static PyObject *read_records(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *capsule, *values;
    Py_ssize_t start, stop, most_odd;
    if (!PyArg_ParseTuple(args, "OO!nnn", &capsule, &PyList_Type, &values, &start, &stop, &most_odd)) return NULL;
    Reader *reader = PyCapsule_GetPointer(capsule, CAPSULE);
    if (reader == NULL) return NULL;
    if (start < 0 || start > stop || stop > PyList_Size(values)) {
        PyErr_SetString(PyExc_ValueError, "no such records");
        return NULL;
    }
    if (!clear_rows(&reader->root)) return PyErr_NoMemory();
    PyObject *odd = PyList_New(0);
    if (odd == NULL) return NULL;
    for (; start < stop && PyList_Size(odd) < most_odd; start++) {
        PyObject *value = PyList_GetItem(values, start);
        int64_t rows = reader->root.rows;
        if (PyBytes_Check(value) && read_record(reader, PyBytes_AsString(value), PyBytes_Size(value))) continue;
        if (set_aside(reader, rows, odd, start)) continue;
        Py_DECREF(odd);
        return NULL;
    }
    return told(reader, odd, start);
}

static int read_payload(Reader *reader, const char *payload, size_t length) {
    reader->record.length = 0;
    return put(&reader->record, payload, length) && put(&reader->record, "", 1) &&
           read_record(reader, reader->record.bytes, (Py_ssize_t)length);
}

static PyObject *read_laid_out(Reader *reader, const Py_buffer *bytes, const Py_buffer *ends, Py_ssize_t start,
                               Py_ssize_t stop, Py_ssize_t most_odd) {
    if (start < 0 || start > stop || stop >= ends->len / (Py_ssize_t)sizeof(int64_t)) {
        PyErr_SetString(PyExc_ValueError, "no such records");
        return NULL;
    }
    if (!clear_rows(&reader->root)) return PyErr_NoMemory();
    PyObject *odd = PyList_New(0);
    if (odd == NULL) return NULL;
    const int64_t *at = (const int64_t *)ends->buf + start;
    for (; start < stop && PyList_Size(odd) < most_odd; start++, at++) {
        if (at[0] < 0 || at[0] > at[1] || at[1] > bytes->len) {
            PyErr_SetString(PyExc_ValueError, "a payload ends outside of the buffer");
            Py_DECREF(odd);
            return NULL;
        }
        int64_t rows = reader->root.rows;
        if (read_payload(reader, (const char *)bytes->buf + at[0], (size_t)(at[1] - at[0]))) continue;
        if (set_aside(reader, rows, odd, start)) continue;
        Py_DECREF(odd);
        return NULL;
    }
    return told(reader, odd, start);
}

static PyObject *read_payloads(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *capsule;
    Py_buffer bytes, ends;
    Py_ssize_t start, stop, most_odd;
    if (!PyArg_ParseTuple(args, "Oy*y*nnn", &capsule, &bytes, &ends, &start, &stop, &most_odd)) return NULL;
    Reader *reader = PyCapsule_GetPointer(capsule, CAPSULE);
    PyObject *read = reader == NULL ? NULL : read_laid_out(reader, &bytes, &ends, start, stop, most_odd);
    PyBuffer_Release(&bytes);
    PyBuffer_Release(&ends);
    return read;
}

/* Return 1 and where each line of a text begins, or 0 if one begins otherwise than an object or is too long; -1 is an error. */
static int find_lines(const Py_buffer *text, Py_ssize_t most_bytes, Buffer *starts) {
    const char *first = text->buf, *at = first, *end = first + text->len;
    while (at < end) {
        const char *line_break = memchr(at, '\n', (size_t)(end - at));
        const char *next = line_break == NULL ? end : line_break + 1;
        if (*at != '{' || next - at > most_bytes) return 0;
        int64_t start = at - first;
        if (!put(starts, &start, sizeof start)) return -1;
        at = next;
    }
    int64_t length = text->len;
    return put(starts, &length, sizeof length) ? 1 : -1;
}

static PyObject *object_lines(PyObject *module, PyObject *args) {
    (void)module;
    Py_buffer text;
    Py_ssize_t most_bytes;
    if (!PyArg_ParseTuple(args, "y*n", &text, &most_bytes)) return NULL;
    Buffer starts = {0};
    int found = find_lines(&text, most_bytes, &starts);
    PyBuffer_Release(&text);
    PyObject *told = found > 0 ? copied(&starts) : found == 0 ? Py_NewRef(Py_None) : PyErr_NoMemory();
    free(starts.bytes);
    return told;
}

static PyMethodDef methods[] = {
    {"reader_of", reader_of, METH_O, "Return a reader of records of a shape, `(kind, key in quotes, (child, ...))`."},
    {"read", read_records, METH_VARARGS,
     "Read records `start` to `stop` of a list, and end after `most_odd` that are not of the shape. Return the columns "
     "of the others, the numbers of those, and where reading ended."},
    {"read_payloads", read_payloads, METH_VARARGS,
     "The same for payloads that lie one after the other; the third argument is int64 and tells where each begins, and "
     "at last where the last one ends."},
    {"object_lines", object_lines, METH_VARARGS,
     "Return where each line of a text begins, and at last where the text ends, as int64. None if a line does not begin "
     "with `{`, or is longer than so many bytes."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_json_kernel", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__json_kernel(void) { return PyModule_Create(&definition); }
