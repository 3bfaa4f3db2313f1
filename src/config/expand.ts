// Fills in what a configuration file takes from elsewhere: `${VAR}` and `${VAR:-default}` from the environment, and a
// whole value `file:/path` from a file, where vaults and container platforms put secrets. Works on parsed values, so
// nothing that comes from outside can change the structure.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { codeOf } from '../core/code-of.ts'
import type { FileState } from './file-state.ts'
import { fileState } from './file-state.ts'
import { pathOf } from './problems.ts'
import type { Path, Problem } from './problems.ts'

type Expanded = {
  readonly value: unknown
  readonly problems: readonly Problem[]
  /** Values whose files cannot be read at the moment; they are empty here. */
  readonly unreadable: readonly Unreadable[]
  /** The files that values came from; when one changes, so does the configuration. */
  readonly files: readonly FileState[]
}

export type Unreadable = { readonly at: Path; readonly message: string }

type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Relative paths start here. */
  readonly folder: string
}

/** `NAME` or `NAME:-default`. A variable within the default would end it at the wrong brace. */
const VARIABLE = /^([A-Za-z_]\w*)(?::-((?:(?!\$\{).)*))?$/s

export function expand(document: unknown, { env, folder }: Surroundings): Expanded {
  const problems: Problem[] = []
  const unreadable: Unreadable[] = []
  const files: FileState[] = []

  const visit = (value: unknown, path: Path): unknown => {
    if (typeof value === 'string') return fill(value, path)
    if (Array.isArray(value)) return value.map((each, index) => visit(each, [...path, index]))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, visit(each, [...path, name])]),
    )
  }

  const fill = (text: string, at: Path): string => {
    const path = pathOf(at)
    const filled = text.replaceAll(
      /\$\$\{|\$\{([^}]*)\}/g,
      (whole: string, inside: string | undefined) => {
        if (inside === undefined) return '${'
        const [, name = '', fallback] = VARIABLE.exec(inside) ?? []
        if (name === '') {
          const message = `${whole} is not understood: write \${NAME} or \${NAME:-default}, and $\${ for a literal \${`
          problems.push({ path, message })
          return ''
        }
        // As in a shell, an empty variable counts as unset where there is a default.
        const found = fallback === undefined ? env[name] : env[name] || fallback
        if (found === undefined) {
          const message = `takes \${${name}}, which is not set: set it, or write \${${name}:-} to allow that`
          problems.push({ path, message })
        }
        return found ?? ''
      },
    )
    return filled.startsWith('file:') ? readSecret(filled.slice('file:'.length), at) : filled
  }

  const readSecret = (name: string, at: Path): string => {
    const file = resolve(folder, name)
    files.push(fileState(file))
    try {
      return readFileSync(file, 'utf8').trim()
    } catch (error) {
      const code = codeOf(error) ?? 'unreadable'
      unreadable.push({ at, message: `names the file ${file}, which cannot be read (${code})` })
      return ''
    }
  }

  return { value: visit(document, []), problems, unreadable, files }
}
