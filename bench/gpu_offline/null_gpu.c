// A Vulkan driver whose GPU does nothing. Mesa's RADV stands behind it with RADV_FORCE_FAMILY, which
// compiles kernels for any AMD GPU without having one; it lacks memory and a queue, and those are
// here. Commands are counted when they are recorded. A submit is done as soon as its dispatches
// have taken `dispatch_nanoseconds` each, so that 0 is an infinitely fast GPU and more tells how
// long a real one would have stood idle. Results mean nothing.
// Structures are those of the Vulkan 1.2 specification, as far as they are read; vulkan.h is not needed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
typedef int32_t Result; // VkResult
enum { SUCCESS = 0, NOT_READY = 1, TIMEOUT = 2 };
typedef void (*Function)(void);
typedef Function (*GetFunction)(void *object, const char *name);

typedef struct Chain { uint32_t type; const struct Chain *next; } Chain;
enum { // VkStructureType
  TIMELINE_CREATE_INFO = 1000207002,
  TIMELINE_SUBMIT_INFO = 1000207003,
  MEMORY_BUDGET_PROPERTIES = 1000237000,
};
typedef struct { Chain chain; uint32_t flags; } CreateInfo;
typedef struct { Chain chain; uint32_t kind; uint64_t value; } TimelineCreateInfo;
typedef struct {
  Chain chain;
  uint32_t wait_count; const uint64_t *wait_values;
  uint32_t signal_count; const uint64_t *signal_values;
} TimelineSubmitInfo;
typedef struct { Chain chain; uint32_t flags, count; void *const *semaphores; const uint64_t *values; } WaitInfo;
typedef struct { Chain chain; void *semaphore; uint64_t value; } SignalInfo;
typedef struct {
  Chain chain;
  uint32_t wait_count; void *const *waits; const uint32_t *wait_stages;
  uint32_t command_count; void *const *commands;
  uint32_t signal_count; void *const *signals;
} SubmitInfo;
typedef struct { uint32_t flags, heap; } MemoryType;
typedef struct { uint64_t size; uint32_t flags; } MemoryHeap;
typedef struct { uint32_t types; MemoryType type[32]; uint32_t heaps; MemoryHeap heap[16]; } Memory;
typedef struct { Chain chain; Memory memory; } Memory2;
typedef struct { Chain chain; uint64_t budget[16], usage[16]; } MemoryBudget;
typedef struct { uint64_t size, alignment; uint32_t types; } Requirements;
typedef struct { Chain chain; Requirements requirements; } Requirements2;

// What was recorded and submitted so far. The order is that of COUNTS in null_gpu.ts.
static struct {
  uint64_t submits, command_buffers, dispatches, barriers, binds, pipelines, copies;
  uint64_t idle_nanoseconds, gaps; // time the GPU had nothing to do between two submits
} counts;
static uint64_t dispatch_nanoseconds;
enum { KEPT_GAPS = 4096 };
static uint64_t gap_lengths[KEPT_GAPS]; // of the last gaps, in nanoseconds
static int64_t busy_until; // when the last submit is done

EXPORT void null_gpu_counts(uint64_t *out) { memcpy(out, &counts, sizeof counts); }
EXPORT void null_gpu_dispatch_time(uint64_t nanoseconds) { dispatch_nanoseconds = nanoseconds; }

// Writes the lengths of the last gaps, at most `most`; returns how many.
EXPORT uint64_t null_gpu_gaps(uint64_t *out, uint64_t most) {
  uint64_t count = counts.gaps < KEPT_GAPS ? counts.gaps : KEPT_GAPS;
  if (count > most) count = most;
  for (uint64_t i = 0; i < count; i++) out[i] = gap_lengths[(counts.gaps - 1 - i) % KEPT_GAPS];
  return count;
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void sleep_until(int64_t due) {
  prctl(PR_SET_TIMERSLACK, 1); // of this thread; sleeps end up to 50 us late otherwise, interrupts do not
  struct timespec t = { due / 1000000000ll, due % 1000000000ll };
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)) {}
}

// A semaphore or fence: a counter, and the values that it will have when submits are done.
enum { PENDING = 256 };
typedef struct { uint64_t value; int first, last; struct { uint64_t value; int64_t due; } pending[PENDING]; } Signal;

static void *signal_at(uint64_t value) {
  Signal *signal = calloc(1, sizeof *signal);
  signal->value = value;
  return signal;
}
static void settle(Signal *signal) {
  const int64_t time = now();
  while (signal->first != signal->last && signal->pending[signal->first].due <= time) {
    signal->value = signal->pending[signal->first].value;
    signal->first = (signal->first + 1) % PENDING;
  }
}
static void signal_later(Signal *signal, uint64_t value, int64_t due) {
  const int next = (signal->last + 1) % PENDING;
  if (next == signal->first) { sleep_until(signal->pending[signal->first].due); settle(signal); }
  signal->pending[signal->last].value = value;
  signal->pending[signal->last].due = due;
  signal->last = next;
}
static Result wait_for(Signal *signal, uint64_t value, uint64_t timeout) {
  const int64_t start = now();
  for (settle(signal); signal->value < value; settle(signal)) {
    if (signal->first == signal->last) return TIMEOUT;
    const int64_t due = signal->pending[signal->first].due;
    if (timeout < (uint64_t)(due - start)) return TIMEOUT;
    sleep_until(due);
  }
  return SUCCESS;
}

static Result create_semaphore(void *d, const CreateInfo *info, const void *a, void **out) {
  uint64_t value = 0;
  for (const Chain *c = info->chain.next; c; c = c->next) {
    if (c->type == TIMELINE_CREATE_INFO) value = ((const TimelineCreateInfo *)c)->value;
  }
  *out = signal_at(value);
  return SUCCESS;
}
static Result create_fence(void *d, const CreateInfo *info, const void *a, void **out) {
  *out = signal_at(info->flags & 1);
  return SUCCESS;
}
static void destroy_signal(void *d, void *signal, const void *a) { free(signal); }
static Result counter_value(void *d, Signal *signal, uint64_t *value) {
  settle(signal);
  *value = signal->value;
  return SUCCESS;
}
static Result signal_semaphore(void *d, const SignalInfo *info) {
  ((Signal *)info->semaphore)->value = info->value;
  return SUCCESS;
}
static Result wait_semaphores(void *d, const WaitInfo *info, uint64_t timeout) {
  Result result = SUCCESS;
  for (uint32_t i = 0; i < info->count; i++) {
    if (wait_for(info->semaphores[i], info->values[i], timeout)) result = TIMEOUT;
  }
  return result;
}
static Result reset_fences(void *d, uint32_t count, Signal *const *fences) {
  for (uint32_t i = 0; i < count; i++) fences[i]->value = 0;
  return SUCCESS;
}
static Result fence_status(void *d, Signal *fence) {
  settle(fence);
  return fence->value ? SUCCESS : NOT_READY;
}
static Result wait_fences(void *d, uint32_t count, Signal *const *fences, uint32_t all, uint64_t timeout) {
  Result result = SUCCESS;
  for (uint32_t i = 0; i < count; i++) if (wait_for(fences[i], 1, timeout)) result = TIMEOUT;
  return result;
}

// Dispatches by the command buffer that they were recorded into.
enum { BUFFERS = 4096 };
static struct { void *commands; uint64_t dispatches; } recorded[BUFFERS];
static uint64_t *dispatches_of(void *commands) {
  size_t at = ((uintptr_t)commands >> 4) % BUFFERS;
  while (recorded[at].commands && recorded[at].commands != commands) at = (at + 1) % BUFFERS;
  recorded[at].commands = commands;
  return &recorded[at].dispatches;
}

static Result submit(void *queue, uint32_t count, const SubmitInfo *infos, Signal *fence) {
  const int64_t time = now();
  if (busy_until && time > busy_until) {
    counts.idle_nanoseconds += time - busy_until;
    gap_lengths[counts.gaps++ % KEPT_GAPS] = time - busy_until;
  }
  int64_t done = time > busy_until ? time : busy_until;
  for (uint32_t i = 0; i < count; i++) {
    const SubmitInfo *info = &infos[i];
    counts.submits++;
    counts.command_buffers += info->command_count;
    for (uint32_t j = 0; j < info->command_count; j++) {
      done += *dispatches_of(info->commands[j]) * dispatch_nanoseconds;
    }
    const TimelineSubmitInfo *timeline = NULL;
    for (const Chain *c = info->chain.next; c; c = c->next) {
      if (c->type == TIMELINE_SUBMIT_INFO) timeline = (const TimelineSubmitInfo *)c;
    }
    for (uint32_t j = 0; j < info->signal_count; j++) {
      const int has_value = timeline && j < timeline->signal_count && timeline->signal_values[j];
      signal_later(info->signals[j], has_value ? timeline->signal_values[j] : 1, done);
    }
  }
  if (fence) signal_later(fence, 1, done);
  busy_until = done;
  return SUCCESS;
}
static Result wait_idle(void *object) {
  if (busy_until) sleep_until(busy_until);
  return SUCCESS;
}

static Result succeed(void) { return SUCCESS; }
static void do_nothing(void) {}
static Result begin_commands(void *commands) { *dispatches_of(commands) = 0; return SUCCESS; }
static void count_dispatch(void *commands) { counts.dispatches++; ++*dispatches_of(commands); }
static void count_barrier(void) { counts.barriers++; }
static void count_bind(void) { counts.binds++; }
static void count_pipeline(void) { counts.pipelines++; }
static void count_copy(void) { counts.copies++; }

// One heap that the host sees too, of which everything may be made.
static void give_memory(Memory *memory) {
  memset(memory, 0, sizeof *memory);
  memory->types = memory->heaps = 1;
  memory->type[0].flags = 1 | 2 | 4; // on the device, visible to the host, coherent
  memory->heap[0].size = 64ull << 30;
  memory->heap[0].flags = 1;
}
static Function real_requirements, real_requirements2;
static void memory_properties(void *device, Memory *memory) { give_memory(memory); }
// The real one would ask hardware for its budget.
static void memory_properties2(void *device, Memory2 *memory) {
  give_memory(&memory->memory);
  for (const Chain *c = memory->chain.next; c; c = c->next) {
    if (c->type == MEMORY_BUDGET_PROPERTIES) ((MemoryBudget *)c)->budget[0] = 60ull << 30;
  }
}
static void requirements(void *device, void *buffer, Requirements *out) {
  ((void (*)(void *, void *, Requirements *))real_requirements)(device, buffer, out);
  out->types = 1;
}
static void requirements2(void *device, const void *info, Requirements2 *out) {
  ((void (*)(void *, const void *, Requirements2 *))real_requirements2)(device, info, out);
  out->requirements.types = 1;
}

static void *library;
static GetFunction real_instance_function, real_device_function;
static Function device_function(void *device, const char *name);

static void load(void) {
  if (library) return;
  const char *path = getenv("NULL_GPU_COMPILER");
  library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) {
    fprintf(stderr, "Cannot open the null GPU's compiler: %s\n", path ? dlerror() : "NULL_GPU_COMPILER is not set");
    abort();
  }
  real_instance_function = (GetFunction)dlsym(library, "vk_icdGetInstanceProcAddr");
}

// Functions in place of the real driver's.
static const struct { const char *name; Function function; } REPLACED[] = {
#define REPLACE(name, function) { "vk" name, (Function)function }
  REPLACE("GetPhysicalDeviceMemoryProperties", memory_properties),
  REPLACE("GetPhysicalDeviceMemoryProperties2", memory_properties2),
  REPLACE("GetPhysicalDeviceMemoryProperties2KHR", memory_properties2),
  REPLACE("CreateSemaphore", create_semaphore), REPLACE("DestroySemaphore", destroy_signal),
  REPLACE("GetSemaphoreCounterValue", counter_value), REPLACE("GetSemaphoreCounterValueKHR", counter_value),
  REPLACE("WaitSemaphores", wait_semaphores), REPLACE("WaitSemaphoresKHR", wait_semaphores),
  REPLACE("SignalSemaphore", signal_semaphore), REPLACE("SignalSemaphoreKHR", signal_semaphore),
  REPLACE("CreateFence", create_fence), REPLACE("DestroyFence", destroy_signal),
  REPLACE("ResetFences", reset_fences), REPLACE("GetFenceStatus", fence_status),
  REPLACE("WaitForFences", wait_fences), REPLACE("QueueSubmit", submit),
  REPLACE("QueueWaitIdle", wait_idle), REPLACE("DeviceWaitIdle", wait_idle),
  REPLACE("BeginCommandBuffer", begin_commands), REPLACE("EndCommandBuffer", succeed),
  REPLACE("ResetCommandBuffer", succeed), REPLACE("ResetCommandPool", succeed),
  // RADV cannot free command buffers without hardware, and the program is about to end.
  REPLACE("DestroyCommandPool", do_nothing), REPLACE("FreeCommandBuffers", do_nothing),
  REPLACE("CmdDispatch", count_dispatch), REPLACE("CmdPipelineBarrier", count_barrier),
  REPLACE("CmdBindDescriptorSets", count_bind), REPLACE("CmdBindPipeline", count_pipeline),
  REPLACE("CmdCopyBuffer", count_copy), REPLACE("GetDeviceProcAddr", device_function),
};
// Functions in front of the real driver's.
static const struct { const char *name; Function function, *real; } WRAPPED[] = {
#define WRAP(name, function, real) { "vk" name, (Function)function, &real }
  WRAP("GetBufferMemoryRequirements", requirements, real_requirements),
  WRAP("GetBufferMemoryRequirements2", requirements2, real_requirements2),
  WRAP("GetBufferMemoryRequirements2KHR", requirements2, real_requirements2),
};

static Function replaced(const char *name) {
  for (size_t i = 0; i < sizeof REPLACED / sizeof *REPLACED; i++) {
    if (!strcmp(name, REPLACED[i].name)) return REPLACED[i].function;
  }
  return strncmp(name, "vkCmd", 5) ? NULL : do_nothing;
}
static Function wrapped(const char *name, Function real) {
  for (size_t i = 0; real && i < sizeof WRAPPED / sizeof *WRAPPED; i++) {
    if (strcmp(name, WRAPPED[i].name)) continue;
    *WRAPPED[i].real = real;
    return WRAPPED[i].function;
  }
  return real;
}
static Function device_function(void *device, const char *name) {
  const Function function = replaced(name);
  return function ? function : wrapped(name, real_device_function(device, name));
}
EXPORT Function vk_icdGetInstanceProcAddr(void *instance, const char *name) {
  load();
  if (instance && !real_device_function) {
    real_device_function = (GetFunction)real_instance_function(instance, "vkGetDeviceProcAddr");
  }
  const Function function = replaced(name);
  return function ? function : wrapped(name, real_instance_function(instance, name));
}
EXPORT Function vk_icdGetPhysicalDeviceProcAddr(void *instance, const char *name) {
  load();
  const GetFunction real = (GetFunction)dlsym(library, "vk_icdGetPhysicalDeviceProcAddr");
  const Function function = replaced(name);
  return function ? function : real ? real(instance, name) : NULL;
}
EXPORT Result vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
  load();
  Result (*real)(uint32_t *) = (Result (*)(uint32_t *))dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
  return real ? real(version) : SUCCESS;
}
