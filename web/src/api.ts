// The only place that speaks to the gateway.

export type Readiness = 'ready' | 'not-ready' | 'unreachable'

export async function fetchReadiness(): Promise<Readiness> {
  try {
    const response = await fetch('/readyz', { cache: 'no-store' })
    return response.ok ? 'ready' : 'not-ready'
  } catch {
    return 'unreachable'
  }
}
