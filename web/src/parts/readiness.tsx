// Polls the gateway's readiness every few seconds and shows it in words.
import { useQuery } from '@tanstack/react-query'
import { fetchReadiness } from '../api.ts'
import { useTranslation } from '../i18n/use-translation.ts'
import styles from './readiness.module.css'

const pollMs = 3000

export function Readiness() {
  const { t } = useTranslation()
  const { data: state = 'unknown' } = useQuery({
    queryKey: ['readiness'],
    queryFn: fetchReadiness,
    refetchInterval: pollMs,
    networkMode: 'always',
  })
  return (
    <p className={styles['readiness']} data-state={state} role="status">
      {t(`readiness.${state}`)}
    </p>
  )
}
