// Notices when a database file is removed or replaced, as by a restore under a running server: a process that has the
// old one open would keep writing where nobody will ever read.
import { statSync } from 'node:fs'

const LOOK_EVERY_MS = 1_000

/** Calls `onReplaced` once, unless the returned function is called before. */
export function watchPlace(file: string, onReplaced: (why: string) => void): () => void {
  const opened = identityOf(file)
  const timer = setInterval(() => {
    let found = opened
    try {
      found = identityOf(file)
    } catch {
      // A folder that cannot be read for a moment says nothing about the file.
    }
    if (found === opened) return
    clearInterval(timer)
    onReplaced(found === undefined ? `${file} was removed` : `${file} is another file now`)
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Undefined when there is none. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}
