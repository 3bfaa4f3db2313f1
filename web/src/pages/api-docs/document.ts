// The parts of the OpenAPI document that the page shows: operations by tag, and schemas as flat lists of fields. Pure.
import { z } from 'zod'

const schemaShape = z.record(z.string(), z.unknown())
type Schema = z.output<typeof schemaShape>

const content = z.record(z.string(), z.looseObject({ schema: schemaShape }))

const parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: schemaShape,
})

const operationShape = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  tags: z.array(z.string()),
  'x-permission': z.string().optional(),
  security: z.array(z.unknown()),
  parameters: z.array(parameter),
  requestBody: z.looseObject({ content }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: content.optional() })),
})

export const documentShape = z.looseObject({
  info: z.looseObject({ title: z.string(), version: z.string(), description: z.string() }),
  servers: z.array(z.looseObject({ url: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
})
export type ApiDocument = z.output<typeof documentShape>

export type Operation = {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly tag: string
  readonly permission: string | undefined
  readonly isPublic: boolean
  /** The fields to send: in the path, the query, the headers and the body. */
  readonly sent: readonly Field[]
  readonly status: string
  readonly answer: readonly Field[]
  readonly isText: boolean
}

export type Field = {
  readonly name: string
  readonly place: 'path' | 'query' | 'header' | 'body' | 'answer'
  readonly type: string
  readonly isRequired: boolean
  readonly about: string | undefined
}

export function operationsOf(document: ApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]): Operation => {
      const [status = '200', response] =
        Object.entries(each.responses).find(([code]) => code.startsWith('2') || code === '303') ??
        []
      const [media = '', answer] = Object.entries(response?.content ?? {})[0] ?? []
      const body = each.requestBody?.content['application/json']?.schema
      return {
        id: each.operationId,
        method: method.toUpperCase(),
        path,
        summary: each.summary,
        tag: each.tags[0] ?? '',
        permission: each['x-permission'],
        isPublic: each.security.length === 0,
        sent: [...each.parameters.map(fieldOfParameter), ...fieldsOf(body, 'body')],
        status,
        answer: fieldsOf(answer?.schema, 'answer'),
        isText: media.startsWith('text/'),
      }
    }),
  )
}

function fieldOfParameter(each: z.output<typeof parameter>): Field {
  const place = each.in === 'path' || each.in === 'query' ? each.in : 'header'
  return {
    name: each.name,
    place,
    type: typeOf(each.schema),
    isRequired: each.required ?? false,
    about: each.description ?? aboutOf(each.schema),
  }
}

/** A list of fields nested deeper than this explains nothing. */
const depthMax = 4

/** Every field of a schema by its full path: `keys[].name`. */
export function fieldsOf(
  schema: Schema | undefined,
  place: 'body' | 'answer',
  prefix = '',
): readonly Field[] {
  if (schema === undefined || prefix.split(/[.[]/).length > depthMax) return []
  const variants = listOf(schema['anyOf'] ?? schema['oneOf'])
  if (variants.length > 0) {
    const fields = variants.flatMap((each) => fieldsOf(each, place, prefix))
    return [...new Map(fields.map((field) => [field.name, field])).values()]
  }
  const items = schemaOf(schema['items'])
  if (items) return fieldsOf(items, place, `${prefix}[]`)
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(schemaOf(schema['properties']) ?? {}).flatMap(([key, value]) => {
    const own = schemaOf(value) ?? {}
    const name = prefix === '' ? key : `${prefix}.${key}`
    const isRequired = required.includes(key)
    const field = { name, place, type: typeOf(own), isRequired, about: aboutOf(own) }
    return [field, ...fieldsOf(own, place, name)]
  })
}

/** In terms API readers know: `string`, `integer`, `array of object`, `"a" | "b"`. */
export function typeOf(schema: Schema): string {
  const { const: constant, enum: values, type, format } = schema
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  const variants = listOf(schema['anyOf'] ?? schema['oneOf'])
  if (variants.length > 0) return [...new Set(variants.map(typeOf))].join(' | ')
  const items = schemaOf(schema['items'])
  if (type === 'array' && items) return `array of ${typeOf(items)}`
  const name = typeof type === 'string' ? type : 'any'
  return typeof format === 'string' ? `${name} (${format})` : name
}

function aboutOf({ description }: Schema): string | undefined {
  return typeof description === 'string' ? description : undefined
}

function listOf(value: unknown): readonly Schema[] {
  const parsed = z.array(schemaShape).safeParse(value)
  return parsed.success ? parsed.data : []
}

function schemaOf(value: unknown): Schema | undefined {
  const parsed = schemaShape.safeParse(value)
  return parsed.success ? parsed.data : undefined
}
