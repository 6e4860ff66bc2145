/* A consumer of librdkafka that hands over the payloads of many records at once, with no Python object per record.
 *
 * It calls the librdkafka that confluent-kafka brings along, by the functions of its public interface, rdkafka.h, whose
 * ABI is stable. Nothing of librdkafka is needed to compile this file: the functions are looked up in a library that
 * depends on it. What a callback in Python would answer is out of reach here; such clients use confluent-kafka itself.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- What rdkafka.h declares ---- */

enum { CONSUMER_TYPE = 1, CONFIG_OK = 0 };

typedef struct {
    int err;
    void *topic;
    int32_t partition;
    void *payload;
    size_t length;
    void *key;
    size_t key_length;
    int64_t offset;
    void *private_data;
} Message;

typedef struct {
    void *(*conf_new)(void);
    void (*conf_destroy)(void *);
    int (*conf_set)(void *, const char *, const char *, char *, size_t);
    void *(*new)(int, void *, char *, size_t);
    int (*poll_set_consumer)(void *);
    void *(*queue_get_consumer)(void *);
    void (*queue_destroy)(void *);
    int (*consumer_close)(void *);
    void (*destroy)(void *);
    void *(*list_new)(int);
    void *(*list_add)(void *, const char *, int32_t);
    int (*list_set_offset)(void *, const char *, int32_t, int64_t);
    void (*list_destroy)(void *);
    int (*assign)(void *, const void *);
    Py_ssize_t (*consume_batch)(void *, int, Message **, size_t);
    void (*message_destroy)(Message *);
    int64_t (*timestamp)(const Message *, int *);
    const char *(*errstr)(const Message *);
    const char *(*err2str)(int);
} Library;

static const struct {
    const char *name;
    size_t at;
} FUNCTIONS[] = {
    {"rd_kafka_conf_new", offsetof(Library, conf_new)},
    {"rd_kafka_conf_destroy", offsetof(Library, conf_destroy)},
    {"rd_kafka_conf_set", offsetof(Library, conf_set)},
    {"rd_kafka_new", offsetof(Library, new)},
    {"rd_kafka_poll_set_consumer", offsetof(Library, poll_set_consumer)},
    {"rd_kafka_queue_get_consumer", offsetof(Library, queue_get_consumer)},
    {"rd_kafka_queue_destroy", offsetof(Library, queue_destroy)},
    {"rd_kafka_consumer_close", offsetof(Library, consumer_close)},
    {"rd_kafka_destroy", offsetof(Library, destroy)},
    {"rd_kafka_topic_partition_list_new", offsetof(Library, list_new)},
    {"rd_kafka_topic_partition_list_add", offsetof(Library, list_add)},
    {"rd_kafka_topic_partition_list_set_offset", offsetof(Library, list_set_offset)},
    {"rd_kafka_topic_partition_list_destroy", offsetof(Library, list_destroy)},
    {"rd_kafka_assign", offsetof(Library, assign)},
    {"rd_kafka_consume_batch_queue", offsetof(Library, consume_batch)},
    {"rd_kafka_message_destroy", offsetof(Library, message_destroy)},
    {"rd_kafka_message_timestamp", offsetof(Library, timestamp)},
    {"rd_kafka_message_errstr", offsetof(Library, errstr)},
    {"rd_kafka_err2str", offsetof(Library, err2str)},
};

typedef struct {
    Library library;
    void *handle; /* NULL once it is closed */
    void *queue;
} Consumer;

static const char CAPSULE[] = "gluepot.connectors.kafka._consumer.Consumer";

/* ---- Life of a consumer ---- */

static int look_up(Library *library, const char *path) {
    void *loaded = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (loaded == NULL) {
        PyErr_SetString(PyExc_OSError, dlerror());
        return 0;
    }
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof FUNCTIONS[0]; i++) {
        void *function = dlsym(loaded, FUNCTIONS[i].name);
        if (function == NULL) {
            PyErr_Format(PyExc_OSError, "%s has no %s", path, FUNCTIONS[i].name);
            return 0;
        }
        memcpy((char *)library + FUNCTIONS[i].at, &function, sizeof function);
    }
    return 1; /* the library stays loaded, as confluent-kafka needs it, too */
}

static void close_consumer(Consumer *consumer) {
    if (consumer->handle == NULL) return;
    Py_BEGIN_ALLOW_THREADS;
    consumer->library.queue_destroy(consumer->queue);
    consumer->library.consumer_close(consumer->handle);
    consumer->library.destroy(consumer->handle);
    Py_END_ALLOW_THREADS;
    consumer->handle = NULL;
}

static void free_consumer(PyObject *capsule) {
    Consumer *consumer = PyCapsule_GetPointer(capsule, CAPSULE);
    if (consumer == NULL) return;
    close_consumer(consumer);
    free(consumer);
}

/* Return a configuration with the properties of a dict; NULL, with an exception, where librdkafka refuses one. */
static void *configuration(const Library *library, PyObject *properties) {
    void *conf = library->conf_new();
    PyObject *items = PyDict_Items(properties);
    for (Py_ssize_t i = 0; items != NULL && i < PyList_Size(items); i++) {
        const char *name, *value;
        char problem[512];
        if (!PyArg_ParseTuple(PyList_GetItem(items, i), "ss", &name, &value)) {
            Py_CLEAR(items);
        } else if (library->conf_set(conf, name, value, problem, sizeof problem) != CONFIG_OK) {
            PyErr_SetString(PyExc_ValueError, problem);
            Py_CLEAR(items);
        }
    }
    if (items == NULL) {
        library->conf_destroy(conf);
        return NULL;
    }
    Py_DECREF(items);
    return conf;
}

static PyObject *open_consumer(PyObject *module, PyObject *args) {
    (void)module;
    const char *path;
    PyObject *properties;
    if (!PyArg_ParseTuple(args, "sO!", &path, &PyDict_Type, &properties)) return NULL;
    Consumer *consumer = calloc(1, sizeof(Consumer));
    if (consumer == NULL) return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(consumer, CAPSULE, free_consumer);
    if (capsule == NULL) {
        free(consumer);
        return NULL;
    }
    void *conf = look_up(&consumer->library, path) ? configuration(&consumer->library, properties) : NULL;
    if (conf == NULL) {
        Py_DECREF(capsule);
        return NULL;
    }
    char problem[512];
    void *handle;
    Py_BEGIN_ALLOW_THREADS;
    handle = consumer->library.new(CONSUMER_TYPE, conf, problem, sizeof problem);
    Py_END_ALLOW_THREADS;
    if (handle == NULL) {
        consumer->library.conf_destroy(conf);
        PyErr_SetString(PyExc_ValueError, problem);
        Py_DECREF(capsule);
        return NULL;
    }
    consumer->handle = handle;
    consumer->library.poll_set_consumer(handle); /* errors of the client come with the records */
    consumer->queue = consumer->library.queue_get_consumer(handle);
    return capsule;
}

/* Return the consumer of a capsule; NULL, with an exception, if it is closed. */
static Consumer *opened(PyObject *capsule) {
    Consumer *consumer = PyCapsule_GetPointer(capsule, CAPSULE);
    if (consumer == NULL || consumer->handle != NULL) return consumer;
    PyErr_SetString(PyExc_RuntimeError, "the consumer is closed");
    return NULL;
}

static PyObject *close_it(PyObject *module, PyObject *capsule) {
    (void)module;
    Consumer *consumer = PyCapsule_GetPointer(capsule, CAPSULE);
    if (consumer == NULL) return NULL;
    close_consumer(consumer);
    Py_RETURN_NONE;
}

/* ---- Partitions ---- */

static PyObject *assign(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *capsule;
    const char *topic = NULL;
    int partition = 0;
    long long offset = 0;
    if (!PyArg_ParseTuple(args, "O|siL", &capsule, &topic, &partition, &offset)) return NULL;
    Consumer *consumer = opened(capsule);
    if (consumer == NULL) return NULL;
    const Library *library = &consumer->library;
    void *list = NULL;
    int failed;
    if (topic != NULL) {
        list = library->list_new(1);
        library->list_add(list, topic, partition);
        library->list_set_offset(list, topic, partition, offset);
    }
    Py_BEGIN_ALLOW_THREADS;
    failed = library->assign(consumer->handle, list);
    Py_END_ALLOW_THREADS;
    if (list != NULL) library->list_destroy(list);
    return PyLong_FromLong(failed);
}

/* ---- Records ---- */

static int append_taken(PyObject *list, PyObject *item) {
    int failed = item == NULL || PyList_Append(list, item) < 0;
    Py_XDECREF(item);
    return !failed;
}

/* Move the messages that are no records behind those that are, and append them to a list; return the count of records,
 * or -1. */
static Py_ssize_t set_notices_apart(const Library *library, Message **messages, Py_ssize_t count, PyObject *notices) {
    Py_ssize_t records = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        Message *message = messages[i];
        if (message->err == 0) {
            messages[i] = messages[records];
            messages[records++] = message;
            continue;
        }
        const char *text = library->errstr(message);
        PyObject *notice = Py_BuildValue("iziL", message->err, text ? text : library->err2str(message->err),
                                         (int)message->partition, (long long)message->offset);
        if (!append_taken(notices, notice)) return -1;
    }
    return records;
}

typedef struct {
    PyObject *ends;       /* int64: where each payload ends in the payloads, behind a 0 */
    PyObject *payloads;
    PyObject *offsets;    /* int64, or None where they are one after the other */
    PyObject *epochs_ms;  /* int64 */
    PyObject *without;    /* list of the numbers of records that have no payload */
    int is_ascending, has_other_partitions;
} Records;

static int has_memory(const Records *records) {
    return records->ends != NULL && records->payloads != NULL && records->without != NULL &&
           records->offsets != NULL && records->epochs_ms != NULL;
}

static PyObject *numbers(Py_ssize_t count) { return PyBytes_FromStringAndSize(NULL, 8 * count); }

/* Copy what the messages hold; return whether there was memory for it. */
static int copy(const Library *library, Message **messages, Py_ssize_t count, Records *records) {
    size_t bytes = 0;
    int is_dense = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        bytes += messages[i]->length;
        is_dense &= messages[i]->offset == messages[0]->offset + i;
        records->is_ascending &= i == 0 || messages[i]->offset > messages[i - 1]->offset;
        records->has_other_partitions |= messages[i]->partition != messages[0]->partition;
    }
    records->ends = numbers(count + 1);
    records->payloads = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    records->offsets = is_dense ? Py_NewRef(Py_None) : numbers(count);
    records->epochs_ms = numbers(count);
    records->without = PyList_New(0);
    if (!has_memory(records)) return 0;
    int64_t *ends = (int64_t *)PyBytes_AsString(records->ends), end = 0;
    int64_t *offsets = is_dense ? NULL : (int64_t *)PyBytes_AsString(records->offsets);
    int64_t *epochs_ms = (int64_t *)PyBytes_AsString(records->epochs_ms);
    char *payloads = PyBytes_AsString(records->payloads);
    int kind;
    ends[0] = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Message *message = messages[i];
        if (message->payload != NULL)
            memcpy(payloads + end, message->payload, message->length);
        else if (!append_taken(records->without, PyLong_FromSsize_t(i)))
            return 0;
        ends[i + 1] = end += (int64_t)message->length;
        if (offsets != NULL) offsets[i] = message->offset;
        epochs_ms[i] = library->timestamp(message, &kind);
    }
    return 1;
}

/* Return a tuple of what is told of one or more messages, as `_records` in compiled.py takes it apart; or NULL. */
static PyObject *told(const Library *library, Message **messages, Py_ssize_t count) {
    Records records = {.is_ascending = 1};
    PyObject *answer = NULL;
    if (copy(library, messages, count, &records))
        answer = Py_BuildValue("LiiiOOOOO", (long long)messages[0]->offset, (int)messages[0]->partition,
                               records.is_ascending, records.has_other_partitions, records.ends, records.payloads,
                               records.offsets, records.epochs_ms, records.without);
    Py_XDECREF(records.ends);
    Py_XDECREF(records.payloads);
    Py_XDECREF(records.offsets);
    Py_XDECREF(records.epochs_ms);
    Py_XDECREF(records.without);
    return answer;
}

static PyObject *take(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *capsule;
    Py_ssize_t most;
    int timeout_ms;
    if (!PyArg_ParseTuple(args, "Oni", &capsule, &most, &timeout_ms)) return NULL;
    Consumer *consumer = opened(capsule);
    if (consumer == NULL) return NULL;
    const Library *library = &consumer->library;
    Message **messages = most < 1 ? NULL : malloc((size_t)most * sizeof *messages);
    PyObject *notices = PyList_New(0), *records = NULL;
    if (messages == NULL || notices == NULL) {
        free(messages);
        Py_XDECREF(notices);
        return PyErr_NoMemory();
    }
    Py_ssize_t count;
    Py_BEGIN_ALLOW_THREADS;
    count = library->consume_batch(consumer->queue, timeout_ms, messages, (size_t)most);
    Py_END_ALLOW_THREADS;
    Py_ssize_t good = set_notices_apart(library, messages, count < 0 ? 0 : count, notices);
    if (good > 0) records = told(library, messages, good);
    if (good == 0) records = Py_NewRef(Py_None);
    for (Py_ssize_t i = 0; i < count; i++) library->message_destroy(messages[i]);
    free(messages);
    if (records == NULL) {
        Py_DECREF(notices);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return Py_BuildValue("NN", records, notices);
}

static PyMethodDef methods[] = {
    {"open", open_consumer, METH_VARARGS,
     "Return a consumer with the given properties; the first argument is a library that depends on librdkafka."},
    {"close", close_it, METH_O, "Close a consumer; the second call does nothing."},
    {"assign", assign, METH_VARARGS,
     "Read a partition of a topic from an offset on, or nothing without a topic; return librdkafka's error code."},
    {"take", take, METH_VARARGS,
     "Return the records that are there, at most so many within so many milliseconds, or None, and a list of notices: "
     "`(error code, text, partition, offset)`."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_consumer", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__consumer(void) { return PyModule_Create(&definition); }
