// Finds a module that is loaded by its address, as a thread's is.
import { extname } from 'node:path'

/** It lies beside the file that asks and has its ending: .ts among the sources, .js in dist/, which is one flat folder. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(name + extname(url), url)
}
