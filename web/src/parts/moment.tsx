// A time relative to now; the exact time is in the title and for assistive technology.
import { useFormat } from '../i18n/use-format.ts'
import { useNow } from '../i18n/use-now.ts'

type MomentProps = {
  readonly at: string
  readonly exact?: boolean
}

export function Moment({ at, exact = false }: MomentProps) {
  const format = useFormat()
  const now = useNow()
  const whole = format.dateTime(at)
  return (
    <time dateTime={at} title={exact ? undefined : whole}>
      {exact ? whole : format.relative(at, now)}
    </time>
  )
}
