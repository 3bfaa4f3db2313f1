// Finds the handler of a method and a path. HEAD is answered where GET is: node leaves out the body. Paths are exact but for one placeholder: `{id}`, or `{name}`, which may
// contain slashes because model names may. Of several patterns that match, the longest wins.

export type Route<Handler> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly handler: Handler
}

type Found<Handler> =
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
  const asked = method === 'HEAD' ? 'GET' : method
  const route = routes.find((one) => one.method === asked)
  if (route !== undefined) return { found: 'route', handler: route.handler, path: route.path, id }
  const methods = routes.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : one.method))
  return { found: 'other methods', methods }
}

/** The value of the placeholder, if the path matches the pattern. A value that is not properly escaped never does. */
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
