// The processor time of this thread, for tests of how much work something takes: on a loaded machine, the clock counts
// what others did meanwhile.

export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
