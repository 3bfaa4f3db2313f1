// What is wrong with a configuration, as paths and sentences: from the schema's findings to lines a person can act on.
import type { z } from 'zod'
import { closest } from '../core/text.ts'

export type Problem = {
  /** Where: a path such as `providers.openai.api_key`, or the variable or option that the value came from. */
  readonly path: string
  /** What is wrong and what to do: the rest of a sentence that begins with the path. */
  readonly message: string
}

/** A configuration that cannot be used. The message has one line per problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** Null: there is none. */
  readonly file: string | null
  readonly problems: readonly Problem[]

  constructor(file: string | null, problems: readonly Problem[]) {
    super(problems.map((problem) => lineOf(file, problem)).join('\n'))
    this.file = file
    this.problems = problems
  }
}

/** Names the file, unless the value came from an option or a variable, or it is the file itself. */
function lineOf(file: string | null, { path, message }: Problem): string {
  const isInFile = file !== null && path !== file && !/^(--|TOLLGATE_)/.test(path)
  return isInFile ? `${file}: ${path} ${message}` : `${path} ${message}`
}

export type Path = readonly PropertyKey[]

/** `models."gpt-5.4".targets[0]`: names that hold a dot or the like are quoted. */
export function pathOf(path: Path): string {
  return path
    .map((step) => {
      if (typeof step === 'number') return `[${step}]`
      return /^[\w-]+$/.test(String(step)) ? `.${String(step)}` : `."${String(step)}"`
    })
    .join('')
    .replace(/^\./, '')
}

/** `sections` are the names allowed at the top level: for a mistyped one the closest is suggested. */
export function problemsOf(error: z.ZodError, sections: readonly string[]): readonly Problem[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0
      ? issue.keys.map((key) => unknownSection(key, sections))
      : problemsOfIssue(issue, []),
  )
}

function unknownSection(key: string, sections: readonly string[]): Problem {
  const meant = closest(key.slice(0, SECTION_CHARACTERS_MAX), sections)
  const question = meant === undefined ? '' : `did you mean ${meant}? `
  return {
    path: pathOf([key]),
    message: `is not a setting: ${question}docs/config.md lists them all`,
  }
}

const SECTION_CHARACTERS_MAX = 100

const NO_SETTING = 'is not a setting: docs/config.md lists them all'
/** Settings of earlier versions, and what to write in their place. */
const REPLACED = new Map([
  [
    'auth.messages_bearer',
    'is now auth.headers: in place of true write "auth: { headers: either }"; in place of false leave it out',
  ],
])

type Issue = z.core.$ZodIssue

function problemsOfIssue(issue: Issue, before: Path): readonly Problem[] {
  const path = [...before, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const own = pathOf([...path, key])
      return { path: own, message: REPLACED.get(own) ?? NO_SETTING }
    })
  }
  if (issue.code === 'invalid_key') {
    return [{ path: pathOf(path), message: issue.issues[0]?.message ?? issue.message }]
  }
  if (issue.code === 'invalid_union') {
    // A value that has the outer shape of one member is judged by that member, any other by the whole union.
    const [near, ...more] = issue.errors.filter((issues) => !issues.some(isAboutWhole))
    if (near !== undefined && more.length === 0) {
      return near.flatMap((each) => problemsOfIssue(each, path))
    }
  }
  return [{ path: pathOf(path), message: sentence(issue) }]
}

function isAboutWhole(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code !== 'unrecognized_keys'
}

/** Tollgate's own types say what to write; for missing values, sections and plain types this does. */
function sentence(issue: Issue): string {
  if (issue.code !== 'invalid_type' || !issue.message.startsWith('Invalid input')) {
    return issue.message
  }
  if (issue.message.endsWith('undefined')) return 'is missing'
  return issue.expected === 'object' || issue.expected === 'record'
    ? 'must be a section with settings of its own'
    : `must be of type ${issue.expected}`
}
