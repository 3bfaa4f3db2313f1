// The current time, updated every half minute so that "2 minutes ago" stays true.
import { useEffect, useState } from 'react'

const renewMs = 30_000

export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), renewMs)
    return () => clearInterval(timer)
  }, [])
  return now
}
