// Finds a module that is loaded by URL, as a worker thread's is.
import { extname } from 'node:path'

/** It is beside the calling file, with the same extension: .ts in the sources, .js in dist/, which is a flat folder. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(name + extname(url), url)
}
