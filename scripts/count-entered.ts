// Loaded into a gateway by `npm run shape`. On each SIGUSR2 it writes the functions of src/ that its serving thread has
// entered since the last one, as one line on standard error.
import { Session } from 'node:inspector/promises'

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

process.on('SIGUSR2', () => {
  void session.post('Profiler.takePreciseCoverage').then(({ result }) => {
    const entered: Record<string, number> = {}
    for (const { url, functions } of result) {
      const [, path] = /\/(src\/.*\.ts)$/.exec(url) ?? []
      const count = functions.filter(
        // The first range of a module is the module itself.
        ({ functionName, ranges }) =>
          (ranges[0]?.count ?? 0) > 0 && !(functionName === '' && ranges[0]?.startOffset === 0),
      ).length
      if (path !== undefined && count > 0) entered[path] = count
    }
    process.stderr.write(`entered ${JSON.stringify(entered)}\n`)
  })
})
