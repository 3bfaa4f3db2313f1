// Notices when a database file is removed or replaced, as by a restore under a running server: a process that has the
// old one open would keep writing where nobody will ever read. The same goes for the files that SQLite keeps beside it:
// the newest commits are in its log, and processes find each other's locks in its index.
import { statSync } from 'node:fs'

const LOOK_EVERY_MS = 1_000

/** Calls `onReplaced` once, unless the returned function is called before. All three files must exist by now. */
export function watchPlace(file: string, onReplaced: (why: string) => void): () => void {
  const opened = [file, `${file}-wal`, `${file}-shm`].map((path) => ({
    path,
    identity: identityOf(path),
  }))
  const timer = setInterval(() => {
    const why = opened.map(whyReplaced).find((reason) => reason !== undefined)
    if (why === undefined) return
    clearInterval(timer)
    onReplaced(why)
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

type Opened = { readonly path: string; readonly identity: string | undefined }

function whyReplaced({ path, identity }: Opened): string | undefined {
  try {
    const found = identityOf(path)
    if (found === identity) return undefined
    return found === undefined ? `${path} was removed` : `${path} is another file now`
  } catch {
    // A folder that cannot be read for a moment says nothing about the file.
    return undefined
  }
}

/** Undefined when there is none. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}
