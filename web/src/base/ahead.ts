// Answers that were asked for before anything needed them (start.ts).

type Asked = { readonly answer: Promise<Response>; readonly abort: () => void }

const asked = new Map<string, Asked>()

export function askAhead(address: string): Promise<Response> {
  const controller = new AbortController()
  const answer = fetch(address, {
    headers: { accept: 'application/json' },
    cache: 'no-store',
    signal: controller.signal,
  })
  asked.set(address, { answer, abort: () => controller.abort() })
  return answer
}

/** After a change, such as a sign-in, they are old. */
export function forgetAhead(): void {
  asked.clear()
}

/** Each is for the first that needs it: afterwards it is old. Undefined if nobody asked, or in vain. */
export async function askedAhead(
  address: string,
  signal: AbortSignal,
): Promise<Response | undefined> {
  const found = asked.get(address)
  if (found === undefined) return undefined
  asked.delete(address)
  signal.addEventListener('abort', found.abort)
  return found.answer.catch(() => undefined)
}
