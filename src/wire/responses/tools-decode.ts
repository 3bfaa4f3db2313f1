// The tools and the tool choice of a responses request in the canonical form: one flat list.
import type { GatewayError } from '../../core/errors.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isGiven, typeOf } from '../../core/json.ts'
import type { Tool, ToolChoice } from '../../core/request.ts'
import { asksForTool } from '../choice-among-none.ts'
import {
  expectBoolean,
  expectList,
  expectName,
  expectObject,
  expectOneOf,
  expectText,
  optional,
} from '../expect.ts'
import { decodeParameters } from '../tool-parameters.ts'
import type { ToolNames } from './tool-names.ts'
import { declaredTools } from './tool-names.ts'
import { usableTools } from './usable-tools.ts'

export type Reading = {
  readonly names: ToolNames
  /** Collects the names of what has no place in the canonical form. */
  readonly dropped: Set<string>
}

export function decodeTools(body: JsonObject, reading: Reading): Tool[] {
  for (const [index, tool] of (optional(body['tools'], 'tools', expectList) ?? []).entries()) {
    expectObject(tool, `tools[${index}]`)
  }
  return declaredTools(body).flatMap(({ tool, place }) => decodeTool(tool, place, reading))
}

function decodeTool(tool: JsonObject, place: string, reading: Reading): Tool[] {
  switch (typeOf(tool)) {
    case 'function':
    case 'custom':
      return [decodeOne(tool, { place, namespace: undefined }, reading)]
    case 'namespace': {
      const namespace = expectName(tool['name'], `${place}.name`)
      if ((tool['description'] ?? '') !== '') reading.dropped.add('tools.namespace.description')
      return expectList(tool['tools'], `${place}.tools`).map((inner, index) => {
        const at = `${place}.tools[${index}]`
        return decodeOne(expectObject(inner, at), { place: at, namespace }, reading)
      })
    }
    default:
      // Hosted tools, and client tools whose schema only the format's own models know.
      reading.dropped.add(`tools.${expectName(tool['type'], `${place}.type`)}`)
      return []
  }
}

/** Settings of a tool that no other format has. */
export const OWN_SETTINGS = ['defer_loading', 'async', 'output_schema', 'allowed_callers']

type Spot = { readonly place: string; readonly namespace: string | undefined }

function decodeOne(tool: JsonObject, { place, namespace }: Spot, reading: Reading): Tool {
  const type = expectOneOf(['function', 'custom'])(tool['type'], `${place}.type`)
  for (const name of OWN_SETTINGS) {
    if ((tool[name] ?? false) !== false) reading.dropped.add(`tools.${name}`)
  }
  const name = reading.names.flat(expectName(tool['name'], `${place}.name`), namespace)
  const description = optional(tool['description'], `${place}.description`, expectText)
  if (type === 'custom') {
    const inputFormat = optional(tool['format'], `${place}.format`, expectObject)
    return defined({ type, name, description, inputFormat })
  }
  return defined({
    type,
    name,
    description,
    schema: decodeParameters(tool['parameters'], `${place}.parameters`),
    strict: optional(tool['strict'], `${place}.strict`, expectBoolean),
  })
}

export function decodeToolChoice(
  body: JsonObject,
  tools: readonly Tool[],
  reading: Reading,
): ToolChoice | undefined {
  const { toolChoice, dropped } = usableTools(body, { isTranslated: true })
  const choice = isGiven(toolChoice) ? decodeChoice(toolChoice, body, reading) : undefined
  const isAmongNone = tools.length === 0 && asksForTool(toolChoice)
  if (isAmongNone || dropped.includes('tool_choice')) reading.dropped.add('tool_choice')
  return tools.length === 0 ? undefined : choice
}

function decodeChoice(toolChoice: Json, body: JsonObject, reading: Reading): ToolChoice {
  if (typeof toolChoice === 'string') {
    return { type: expectOneOf(['auto', 'none', 'required'])(toolChoice, 'tool_choice') }
  }
  const choice = expectObject(toolChoice, 'tool_choice')
  switch (typeOf(choice)) {
    case 'function':
    case 'custom':
      return { type: 'tool', name: chosenName(choice, 'tool_choice', reading) }
    case 'allowed_tools':
      return decodeAllowed(choice, body, reading)
    default:
      throw cannotForce('tool_choice', choice['type'])
  }
}

function decodeAllowed(choice: JsonObject, body: JsonObject, reading: Reading): ToolChoice {
  const mode = expectOneOf(['auto', 'required'])(choice['mode'], 'tool_choice.mode')
  const names = new Set<string>()
  // A namespace may be named many times; its tools are looked up once.
  const namespaces = new Set<Json | undefined>()
  for (const [index, entry] of expectList(choice['tools'], 'tool_choice.tools').entries()) {
    const place = `tool_choice.tools[${index}]`
    const tool = expectObject(entry, place)
    switch (typeOf(tool)) {
      case 'function':
      case 'custom':
        names.add(chosenName(tool, place, reading))
        break
      case 'namespace':
        namespaces.add(tool['name'])
        break
      default:
        throw cannotForce(place, tool['type'])
    }
  }
  for (const { tool, place } of declaredTools(body)) {
    if (tool['type'] !== 'namespace' || !namespaces.has(tool['name'])) continue
    for (const { name } of decodeTool(tool, place, reading)) names.add(name)
  }
  return { type: 'allowed', names: [...names], required: mode === 'required' }
}

function chosenName(tool: JsonObject, place: string, { names }: Reading): string {
  const namespace = optional(tool['namespace'], `${place}.namespace`, expectName)
  const name = expectName(tool['name'], `${place}.name`)
  const flat = names.flat(name, namespace)
  if (names.has(flat)) return flat
  throw invalidRequest(place, `${place} names the tool "${name}", which is not among the tools`)
}

function cannotForce(place: string, type: Json | undefined): GatewayError {
  return invalidRequest(
    place,
    `${place} asks for the tool type ${JSON.stringify(type ?? null)}, which this model does not have`,
  )
}
