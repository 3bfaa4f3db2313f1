// The words that run this very program again from the folder it was started in. `npx tollgate` is not always among them:
// where there is none to run, npx fetches whatever is registered under that name.
import { realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

export function ownCommand(place: {
  readonly program: string
  readonly folder: string
  readonly path: string | undefined
}): string {
  const program = launcherOf(realPath(place.program) ?? place.program)
  const isHere = (folder: string): boolean => realPath(join(folder, 'tollgate')) === program
  if (isHere(join(place.folder, 'node_modules', '.bin'))) return 'npx tollgate'
  // npm puts folders of its own on the path of what it starts; a person's shell does not have them.
  const folders = (place.path ?? '')
    .split(delimiter)
    .filter((each) => !each.includes('node_modules'))
  return folders.some(isHere) ? 'tollgate' : `node ${JSON.stringify(program)}`
}

/** The launcher, also where the built program was started without it: it runs under any Node. */
function launcherOf(program: string): string {
  return realPath(join(dirname(program), '..', 'bin', 'tollgate.mjs')) ?? program
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}
