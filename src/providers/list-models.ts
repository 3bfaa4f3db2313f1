// The list of models a provider offers, in the shape of OpenAI and Anthropic, `{ data: [{ id }] }`, and in Google's,
// `[{ name }]` with the full path of each.
import { isArray, isObject, listOf, stringOf } from '../core/json.ts'
import type { Json } from '../core/json.ts'
import { failed, fetchJson } from './fetch-json.ts'
import type { HttpClient } from './http.ts'

/** The names in alphabetical order. Throws a provider_failed that says what the provider answered. */
export async function listModels(
  http: HttpClient,
  call: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { data } = await fetchJson(http, { ...call, method: 'GET' }, signal)
  if (!isArray(data)) throw failed('it answered something else than a list of models')
  return data.flatMap((model) => (isObject(model) ? (stringOf(model['id']) ?? []) : [])).toSorted()
}

/** The last part of each name, in alphabetical order. */
export function namesIn(models: Json | undefined): readonly string[] {
  return listOf(models)
    .flatMap((model) => (isObject(model) ? (stringOf(model['name']) ?? []) : []))
    .map((name) => name.replace(/^.*\//, ''))
    .toSorted()
}
