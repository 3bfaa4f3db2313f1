// The OpenAPI 3.1 document of the admin API, made from the schemas that read its requests and write its answers.
import { z } from 'zod'
import { adminError } from '../contract/errors.ts'
import { API_PREFIX, type AdminRoute, type RouteTable } from '../contract/route.ts'

type Json = Readonly<Record<string, unknown>>

export function openApi(
  routes: RouteTable,
  about: { readonly version: string; readonly url: string },
): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [name, route] of Object.entries(routes)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(name, route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate admin API',
      version: about.version,
      description:
        'Everything the administration interface does, for scripts. Send an access token as "Authorization: Bearer"; keys of the data plane open nothing here.',
    },
    servers: [{ url: about.url + API_PREFIX }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: jsonSchema(adminError, 'output') },
    },
    paths,
  }
}

function operation(name: string, route: AdminRoute): Json {
  const { access, reach, summary, body, answer, status = 200, media = 'application/json' } = route
  return {
    operationId: name,
    summary,
    // By the first word of its path.
    tags: [route.path.split(/[/.]/)[1]],
    ...(access === 'public' ? { security: [] } : { security: [{ token: [] }] }),
    ...(access === 'public' || access === 'signed-in'
      ? {}
      : { 'x-permission': access, 'x-reach': reach }),
    parameters: [...parameters(route)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: json(jsonSchema(body, 'input')) } }),
    responses: {
      [status]: {
        description: 'Done.',
        content: { [media]: { schema: jsonSchema(answer, 'output') } },
      },
      default: {
        description: 'It was not done; the code says why.',
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    },
  }
}

function parameters({ params, query, idempotent, versioned }: AdminRoute): readonly Json[] {
  return [
    ...fieldsOf('path', params),
    ...fieldsOf('query', query),
    ...(idempotent === true ? [header('Idempotency-Key', 'Sent twice, done once.')] : []),
    ...(versioned === true
      ? [header('If-Match', 'The ETag of the answer that showed what is changed.')]
      : []),
  ]
}

function fieldsOf(location: 'path' | 'query', schema: z.ZodType | undefined): readonly Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    readonly properties?: Json
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, each]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    schema: each,
  }))
}

function header(name: string, description: string): Json {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } }
}

function json(schema: Json): Json {
  return { 'application/json': { schema } }
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const described = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  // The document as a whole states the dialect of its schemas.
  delete described.$schema
  return described
}
