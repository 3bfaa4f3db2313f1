// Finds the handler of a method and a path. Paths are exact but for one `{id}`, or `{name}`, which may hold slashes,
// because model names may; of several patterns that fit, the one that says most counts.

export type Route<Handler> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly handler: Handler
}

export type Found<Handler> =
  | {
      readonly found: 'route'
      readonly handler: Handler
      readonly path: string
      readonly id: string
    }
  | { readonly found: 'other methods'; readonly methods: readonly string[] }
  | { readonly found: 'nothing' }

export function makeRouter<Handler>(
  routes: readonly Route<Handler>[],
): (method: string, path: string) => Found<Handler> {
  const byPath = Map.groupBy(routes, ({ path }) => path)
  const patterns = [...byPath.keys()]
    .filter((path) => path.includes('{'))
    .toSorted((one, other) => other.length - one.length)

  return (method, path) => {
    const exact = byPath.get(path)
    if (exact !== undefined) return choose(exact, method, '')
    for (const pattern of patterns) {
      const id = idIn(path, pattern)
      if (id !== undefined) return choose(byPath.get(pattern) ?? [], method, id)
    }
    return { found: 'nothing' }
  }
}

function choose<Handler>(
  routes: readonly Route<Handler>[],
  method: string,
  id: string,
): Found<Handler> {
  const route = routes.find((one) => one.method === method)
  if (route !== undefined) return { found: 'route', handler: route.handler, path: route.path, id }
  return { found: 'other methods', methods: routes.map((one) => one.method) }
}

/** What stands for the placeholder in a path that fits the pattern. What is not properly escaped names nothing. */
function idIn(path: string, pattern: string): string | undefined {
  const [before = '', placeholder, after = ''] = pattern.split(/[{}]/)
  const isFit = path.startsWith(before) && path.endsWith(after)
  if (!isFit || path.length <= before.length + after.length) return undefined
  const written = path.slice(before.length, path.length - after.length)
  if (placeholder === 'id' && written.includes('/')) return undefined
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}
