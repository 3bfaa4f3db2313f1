// Loads the admin plane on the first request to it.
import type { AdminServer } from './server.ts'

export function onDemand(open: () => Promise<AdminServer>): AdminServer {
  let opening: Promise<AdminServer> | undefined
  return {
    async handle(message, response, requestId) {
      opening ??= open()
      const admin = await opening.catch((thrown: unknown) => {
        // The next attempt may succeed: a database that was away may be back.
        opening = undefined
        throw thrown
      })
      await admin.handle(message, response, requestId)
    },
    async close() {
      await (await opening)?.close()
    },
  }
}
