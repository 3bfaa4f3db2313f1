// Tools that the provider runs by itself, at a price and with an account of its own. They are taken out of every
// request; only tools that the client runs stay.
import type { Json, JsonObject } from '../../core/json.ts'
import { isArray, isObject, stringOf } from '../../core/json.ts'

export type HostedTool = { readonly name: string; readonly value: Json }

export function hostedTools(body: JsonObject): readonly HostedTool[] {
  const { tools, web_search_options: search } = body
  const hosted: HostedTool[] = []
  if (search !== undefined && search !== null) {
    hosted.push({ name: 'web_search_options', value: search })
  }
  if (!isArray(tools)) return hosted
  for (const tool of tools) {
    const type = isObject(tool) ? stringOf(tool['type']) : undefined
    if (type === undefined || type === 'function' || type === 'custom') continue
    hosted.push({ name: `tools.${type}`, value: tool })
  }
  return hosted
}
