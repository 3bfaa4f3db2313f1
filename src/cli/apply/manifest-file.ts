// A manifest as a file: YAML whose mistakes are named by their lines, and the file that secrets of new keys go to.
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isMap, isNode, LineCounter, parseDocument, type Document } from 'yaml'
import { manifest } from '../../admin/contract/manifest.ts'
import { schemaError } from '../../admin/http/errors.ts'
import { AdminError } from '../../admin/contract/errors.ts'
import { codeOf } from '../../core/errors.ts'
import { FailureError, RemoteError } from '../terminal/failure.ts'

export class ManifestFile {
  readonly path: string
  /** As it was read, for sending it on. */
  readonly value: unknown
  readonly #document: Document
  readonly #lines = new LineCounter()

  constructor(path: string) {
    this.path = path
    this.#document = parseDocument(readText(path), {
      lineCounter: this.#lines,
      logLevel: 'error',
    })
    const { errors } = this.#document
    if (errors.length > 0) {
      const told = errors.map(({ message, linePos }) => {
        const what = message.split('\n')[0]?.replace(/ at line \d+.*$/, '') ?? ''
        return `${path}:${linePos?.[0].line ?? 1}: this is not valid YAML: ${what}`
      })
      throw new FailureError(told.join('\n'))
    }
    this.value = valueOf(this.#document, path)
  }

  /** Throws a FailureError that names each mistake by its line. */
  read() {
    const { data, error } = manifest.safeParse(this.value)
    if (data !== undefined) return data
    const issues = (error?.issues ?? []).map((issue) => ({
      instancePath: issue.path.map((step) => `/${String(step)}`).join(''),
      keyword: issue.code,
      message: issue.message,
      params: { ...issue },
    }))
    throw this.explain(schemaError(issues))
  }

  /** The same refusal with the lines of this file; any other is left as it is. */
  explain(thrown: unknown): unknown {
    const problems = problemsIn(thrown)
    if (problems === undefined) return thrown
    const lines = problems.map(({ field, message }) => {
      const place = field.split('.').filter((step) => step !== '' && step !== SENT_AS)
      const at = place.length === 0 ? '' : `${placeText(place)}: `
      return `${this.path}:${this.#lineOf(place)}: ${at}${message}`
    })
    return new FailureError(lines.join('\n'))
  }

  /** Of the innermost part of it that is written. */
  #lineOf(place: readonly string[]): number {
    const steps = place.map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    for (let depth = steps.length; depth > 0; depth--) {
      const start = this.#startOf(steps.slice(0, depth))
      if (start !== undefined) return this.#lines.linePos(start).line
    }
    return 1
  }

  #startOf(steps: readonly (string | number)[]): number | undefined {
    const around =
      steps.length === 1 ? this.#document.contents : this.#document.getIn(steps.slice(0, -1), true)
    const last = steps.at(-1)
    if (isMap(around)) {
      const pair = around.items.find(({ key }) => String(isNode(key) ? key.toJSON() : key) === last)
      return isNode(pair?.key) ? pair.key.range?.[0] : undefined
    }
    const node = this.#document.getIn(steps, true)
    return isNode(node) ? node.range?.[0] : undefined
  }
}

/** The name that a manifest has in a call of the admin API. */
const SENT_AS = 'manifest'

type Problem = { readonly field: string; readonly message: string }

function problemsIn(thrown: unknown): readonly Problem[] | undefined {
  if (thrown instanceof RemoteError) {
    return thrown.code === 'invalid_value' ? thrown.problems : undefined
  }
  if (!(thrown instanceof AdminError) || thrown.code !== 'invalid_value') return undefined
  const { field = '', problems = [{ field, sentence: thrown.sentence }] } = thrown.details
  return problems.map((problem) => ({ field: problem.field, message: problem.sentence.text }))
}

/** `keys[3].budget` */
function placeText(place: readonly string[]): string {
  return place
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new FailureError(`${path} cannot be read (${codeOf(error) ?? 'unreadable'})`)
  }
}

/** An empty file is a manifest that changes nothing. */
function valueOf(document: Document, path: string): unknown {
  try {
    return (document.toJS() as unknown) ?? {}
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw new FailureError(`${path} repeats its aliases (*name) too often: write the values out`)
  }
}

/**
 * Adds a line of JSON for each secret, and returns when they are on the disk: all, or none. What is in the file stays: if
 * a run was interrupted before its keys were made, the last line of a name counts.
 */
export function appendSecrets(
  path: string,
  secrets: readonly { readonly name: string; readonly secret: string }[],
): void {
  const lines = secrets.map((each) => `${JSON.stringify(each)}\n`).join('')
  const part = `${path}.part`
  try {
    const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
    rmSync(part, { force: true })
    writeFileSync(part, before + lines, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(part, path)
    syncFolder(dirname(path))
  } catch (error) {
    const code = codeOf(error) ?? 'unwritable'
    throw new FailureError(
      `the secrets cannot be written to ${path} (${code}), so nothing was changed`,
    )
  }
}

/** A renamed file is safe only when its folder is, too. */
function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
