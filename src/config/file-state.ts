// What a file looked like at a moment, to see later whether it has changed. Taken before a file is read, so that nothing
// that happens in between is missed.
import { statSync } from 'node:fs'

export type FileState = { readonly path: string; readonly stamp: string }

export function fileState(path: string): FileState {
  try {
    const { ino, size, mtimeMs } = statSync(path)
    return { path, stamp: `${ino} ${size} ${mtimeMs}` }
  } catch {
    // Reading it will say what is wrong.
    return { path, stamp: 'unreadable' }
  }
}
