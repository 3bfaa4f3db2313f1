// Asks the gateway every few seconds whether it is ready, and says so in words.
import { useEffect, useState } from 'react'
import { fetchReadiness } from '../api.ts'
import type { Readiness as State } from '../api.ts'

const pollMs = 3000

const words: Record<State | 'unknown', string> = {
  unknown: 'Asking the gateway…',
  ready: 'The gateway is running.',
  'not-ready': 'The gateway is up, but takes no requests at the moment.',
  unreachable: 'The gateway does not answer.',
}

export function Readiness() {
  const state = useReadiness()
  return (
    <p className="readiness" data-state={state} role="status">
      {words[state]}
    </p>
  )
}

function useReadiness(): State | 'unknown' {
  const [state, setState] = useState<State | 'unknown'>('unknown')
  useEffect(() => {
    const leaving = new AbortController()
    const poll = async () => {
      const next = await fetchReadiness()
      if (leaving.signal.aborted) return
      setState(next)
      timer = setTimeout(() => void poll(), pollMs)
    }
    let timer = setTimeout(() => void poll())
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [])
  return state
}
