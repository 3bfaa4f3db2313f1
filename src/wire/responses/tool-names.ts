// The flat names that other formats use for the tools of a responses request, including those in a namespace.
import { createHash } from 'node:crypto'

import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, listOf, objectOf, stringOf } from '../../core/json.ts'
import { isToolName } from '../tool-name.ts'

export type ToolNames = {
  /** The one name that other formats use for this tool. */
  flat(name: string, namespace: string | undefined): string
  /** Whether the request declares a tool with this flat name. */
  has(flat: string): boolean
  /** The tool behind a flat name, as this client knows it. */
  own(flat: string): OwnTool
  /** The flat names of the tools that take free text. */
  readonly custom: ReadonlySet<string>
}

export type OwnTool = {
  readonly name: string
  readonly namespace?: string
  readonly custom: boolean
}

/** Maps the tools that the request declares to their names in other formats, and back. */
export function toolNames(body: JsonObject): ToolNames {
  const own = new Map<string, OwnTool>()
  const declared = declaredTools(body)
  for (const { tool } of declared) {
    const name = stringOf(tool['name'])
    if (name !== undefined && tool['type'] !== 'namespace') {
      own.set(name, { name, custom: tool['type'] === 'custom' })
    }
  }
  const flat = (name: string, namespace: string | undefined): string => {
    if (namespace === undefined) return name
    const joined = `${namespace}__${name}`
    const isTaken = own.has(joined) && own.get(joined)?.namespace !== namespace
    return isToolName(joined) && !isTaken ? joined : digestName(namespace, name)
  }
  for (const { tool } of declared) {
    const namespace = stringOf(tool['name'])
    if (tool['type'] !== 'namespace' || namespace === undefined) continue
    for (const { name, type } of listOf(tool['tools']).map(objectOf)) {
      if (typeof name !== 'string') continue
      own.set(flat(name, namespace), { name, namespace, custom: type === 'custom' })
    }
  }
  return {
    flat,
    has: (name) => own.has(name),
    own: (name) => own.get(name) ?? { name, custom: false },
    custom: new Set([...own].filter(([, tool]) => tool.custom).map(([name]) => name)),
  }
}

type DeclaredTool = { readonly tool: JsonObject; readonly place: string }

/** Every tool object of the request: those in `tools`, and those that input items add later. */
export function declaredTools(body: JsonObject): DeclaredTool[] {
  const declared = placed(body['tools'], 'tools')
  const items = listOf(body['input'])
  for (const [index, item] of items.entries()) {
    if (!isObject(item) || item['type'] !== 'additional_tools') continue
    declared.push(...placed(item['tools'], `input[${index}].tools`))
  }
  return declared
}

function placed(tools: Json | undefined, place: string): DeclaredTool[] {
  if (!isArray(tools)) return []
  return tools.flatMap((tool, index) =>
    isObject(tool) ? [{ tool, place: `${place}[${index}]` }] : [],
  )
}

const DIGEST_DIGITS = 16
const READABLE_CHARACTERS = 40

function digestName(namespace: string, name: string): string {
  const digest = createHash('sha256').update(`${namespace}\0${name}`).digest('hex')
  const readable = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, READABLE_CHARACTERS)
  return `${readable}__${digest.slice(0, DIGEST_DIGITS)}`
}
