// The state of a file at a moment, to see later whether it has changed. Taken before the file is read, so that no
// change in between is missed.
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
