// The admin plane before anyone has asked for it: nothing but the promise to load it.
import type { AdminServer } from './server.ts'

export function onDemand(open: () => Promise<AdminServer>): AdminServer {
  let opening: Promise<AdminServer> | undefined
  return {
    async handle(message, response, requestId) {
      opening ??= open()
      const admin = await opening.catch((thrown: unknown) => {
        // What failed once may work the next time: a database that was away is back.
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
