// Loaded into every thread of a gateway before anything else. Each thread prints how much young memory V8 gives it; on
// SIGUSR2 the process ends by printing V8's own list of all its flags, with their values at that time.
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { isMainThread, resourceLimits, threadName } from 'node:worker_threads'

const MB = 1024 * 1024

if (isMainThread) process.on('SIGUSR2', () => setFlagsFromString('--help'))
else {
  const youngMb =
    getHeapStatistics().heap_size_limit / MB - (resourceLimits.maxOldGenerationSizeMb ?? 0)
  console.error(`thread ${threadName}: ${youngMb} MB young`)
}
