// The configuration file that an import writes: the draft as YAML, with a comment where something was decided, and at
// the end everything that was not taken over, with its line there.
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { Document, isMap, isPair, isScalar, isSeq, type Node, type Pair } from 'yaml'
import { codeOf } from '../core/errors.ts'
import { documentOf, masked, plainSecrets, type Draft } from './draft.ts'
import type { Conversion } from './convert.ts'
import { ImportError } from './source.ts'

const MARK = '# imported: sha256:'

/** The text of the file as it may be shown, without secrets. */
export function shownText(conversion: Conversion): string {
  return fileText({ ...conversion, draft: masked(conversion.draft) })
}

/** The text of the file. Its last line lets the next import see whether anyone has changed it since. */
export function fileText({ file, draft, summary }: Conversion): string {
  const document = new Document(documentOf(draft), { aliasDuplicateObjects: false })
  for (const [path, remarks] of remarksIn(draft)) {
    const pair = pairAt(document, path)
    if (pair !== undefined && remarks.length > 0) remark(pair, remarks)
  }
  for (const pair of pairsIn(document.contents)) layOut(pair)
  const left = summary.left.map(
    ({ file: from, line, path, why }) => `#   ${from}:${line} ${path}: ${why}`,
  )
  const text = [
    `# Imported from LiteLLM’s configuration ${file} by \`tollgate import litellm\`.`,
    '# `tollgate check` says what this file means; docs/coming-from-litellm.md says what is different here.',
    '',
    String(document.toString({ lineWidth: 0 })).trimEnd(),
    '',
    ...(left.length === 0 ? [] : ['# Not taken over:', ...left.map(inOneLine), '']),
  ].join('\n')
  return `${text}${MARK}${digestOf(text)}\n`
}

/** Whether there is a file that someone has changed since an import wrote it, or that none wrote. */
export function isForeign(path: string): boolean {
  const before = contentsOf(path)
  return before !== null && !isUntouched(before)
}

/**
 * Writes it, unless someone has changed the file since the last import. For its owner alone: it may hold secrets.
 * Returns what puts back the file that was there.
 */
export function writeImported(path: string, text: string): () => void {
  if (isForeign(path)) {
    throw new ImportError([
      `${path} exists and is not as an import left it: move it away, or name another file with --out`,
    ])
  }
  const before = contentsOf(path)
  replace(path, text)
  return () => (before === null ? rmSync(path) : replace(path, before))
}

/** Whole or not at all. */
function replace(path: string, text: string): void {
  const half = `${path}.half`
  writeFileSync(half, text, { mode: 0o600 })
  renameSync(half, path)
}

function contentsOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new ImportError([`${path} cannot be read (${codeOf(error) ?? 'unreadable'})`])
  }
}

function isUntouched(contents: string): boolean {
  const at = contents.lastIndexOf(MARK)
  return at >= 0 && contents.slice(at + MARK.length).trim() === digestOf(contents.slice(0, at))
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A comment must not become a line of the file. */
function inOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}

function inPlainText(name: string): string {
  return `${name} is written out, as there: \${NAME} or file:/path keeps it out of this file`
}

type Path = readonly string[]

function remarksIn(draft: Draft): readonly (readonly [Path, readonly string[]])[] {
  return [
    ...[...draft.sectionRemarks].map(([name, text]) => [[name], [text]] as const),
    ...[...draft.providers].flatMap(([name, provider]) => [
      [
        ['providers', name],
        [...provider.remarks, ...plainSecrets(provider).map(inPlainText)],
      ] as const,
      ...[...provider.models].map(([model, said]) => {
        const path = ['providers', name, 'models', model]
        return [path, said.remarks] as const
      }),
    ]),
    ...[...draft.models].map(([id, { remarks }]) => [['models', id], remarks] as const),
  ]
}

function pairsIn(node: unknown): readonly Pair[] {
  return isMap(node) ? node.items.filter((each) => isPair(each)) : []
}

function pairAt(document: Document, path: Path): Pair | undefined {
  let inside: unknown = document.contents
  let pair: Pair | undefined
  for (const name of path) {
    pair = pairsIn(inside).find(({ key }) => isScalar(key) && key.value === name)
    inside = pair?.value
  }
  return pair
}

function remark({ key }: Pair, remarks: readonly string[]): void {
  if (isScalar(key)) key.commentBefore = remarks.map((each) => ` ${inOneLine(each)}`).join('\n')
}

/** A section per line where it is short, with a blank line before each section of the file. */
function layOut({ key, value }: Pair): void {
  if (isScalar(key)) key.spaceBefore = true
  const isLong = ['providers', 'models'].includes(String(isScalar(key) ? key.value : ''))
  if (!isLong) return flow(value as Node)
  for (const { value: entry } of pairsIn(value)) {
    for (const { key: name, value: each } of pairsIn(entry)) {
      if (isScalar(name) && name.value === 'models') {
        for (const { value: figures } of pairsIn(each)) flow(figures as Node)
      } else flow(each as Node)
    }
  }
}

function flow(node: Node | null): void {
  if (isMap(node) || (isSeq(node) && node.items.length < 2)) node.flow = true
  else if (isSeq(node)) for (const item of node.items) flow(item as Node)
}
