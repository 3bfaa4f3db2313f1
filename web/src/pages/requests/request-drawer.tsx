// One request: what was called, who answered, and why it cost what it cost. Never the content.
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { type requestDetail, requestRoutes } from '../../../../src/admin/contract/usage.ts'
import { call } from '../../base/api.ts'
import { said, useTranslation } from '../../i18n/i18n.ts'
import { FactList, type Facts } from '../../parts/cells.tsx'
import { DetailDrawer } from '../../parts/dialogs.tsx'
import { Loading, QueryError } from '../../parts/notices.tsx'
import { KeyLink } from './request-table.tsx'
import styles from './request-table.module.css'

type RequestDrawerProps = { readonly id: string; readonly onClose: () => void }
type RequestDetail = z.output<typeof requestDetail>

export function RequestDrawer({ id, onClose }: RequestDrawerProps) {
  const { t } = useTranslation()
  const request = useQuery({
    queryKey: ['requests', 'one', id],
    queryFn: ({ signal }) => call(requestRoutes.readRequest, { params: { id }, signal }),
  })
  return (
    <DetailDrawer title={t('requests.one')} onClose={onClose}>
      {request.isPending && <Loading lines={8} />}
      <QueryError title={t('requests.failed')} query={request} />
      {request.data && <Whole request={request.data} />}
    </DetailDrawer>
  )
}

function Whole({ request }: { readonly request: RequestDetail }) {
  const { t, find, format } = useTranslation()
  const ms = (value: number | null) =>
    value === null ? '–' : t('requests.ms', { value: format.number(value) })
  const facts: Facts = [
    [t('requests.id'), request.id],
    [t('requests.time'), format.exactTime(request.created_at)],
    [t('requests.key'), <KeyLink id={request.key} name={request.key_name} />],
    [t('requests.endpoint'), find(`endpoint.${request.endpoint}`) ?? request.endpoint],
    [t('requests.model'), request.model],
    [t('requests.target'), request.target ?? '–'],
    [t('requests.status'), [request.status, request.code].filter(Boolean).join(' ')],
    [t('metric.input_tokens'), format.number(request.input_tokens)],
    [t('metric.cached_tokens'), format.number(request.cached_tokens)],
    [t('metric.cache_write_tokens'), format.number(request.cache_write_tokens)],
    [t('metric.output_tokens'), format.number(request.output_tokens)],
    [t('requests.reasoningTokens'), format.number(request.reasoning_tokens)],
    [t('requests.held'), format.money(request.held)],
    [t('metric.cost'), format.money(request.cost)],
    [t('requests.latency'), ms(request.latency_ms)],
    [t('requests.firstToken'), ms(request.first_token_ms)],
    [t('requests.endUser'), <span className="break">{request.end_user ?? '–'}</span>],
    // Known only where calls are traced.
    ...(request.trace_id === null
      ? []
      : [[t('requests.trace'), <code className="break">{request.trace_id}</code>] as const]),
  ]
  return (
    <>
      <FactList className={styles['facts']} facts={facts} />
      <h2 className={styles['heading']}>{t('requests.why')}</h2>
      <p className="break">{whyWords(request)}</p>
      <CostLines request={request} />
      <Attempts request={request} />
    </>
  )
}

type Reasons = Pick<RequestDetail, 'why' | 'reasons'>

function whyWords({ why, reasons }: Reasons): string {
  if (reasons.length === 0) return why
  return reasons.map((reason) => said({ message: why, reason })).join(' ')
}

function CostLines({ request }: { readonly request: RequestDetail }) {
  const { t, find, format } = useTranslation()
  if (request.lines.length === 0) return null
  return (
    <table className={styles['lines']}>
      <caption className="visually-hidden">{t('requests.why')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('requests.what')}</th>
          <th scope="col">{t('requests.count')}</th>
          <th scope="col">{t('requests.price')}</th>
        </tr>
      </thead>
      <tbody>
        {request.lines.map(({ what, count, price, ...list }) => (
          <tr key={what}>
            <td>{find(`requests.line.${what}`) ?? what}</td>
            <td>{format.number(count)}</td>
            <td>
              {format.money(price)}
              {list.list_price !== undefined && (
                <div className={styles['sub']}>
                  {t('requests.listPrice', {
                    price: format.money(list.list_price),
                    percent: format.number(Number(list.discount) * 100),
                  })}
                </div>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Attempts({ request }: { readonly request: RequestDetail }) {
  const { t, find, format } = useTranslation()
  if (request.attempts.length === 0) return null
  return (
    <>
      <h2 className={styles['heading']}>{t('requests.attempts')}</h2>
      <ol>
        {request.attempts.map(({ target, outcome, duration_ms: durationMs, ...attempt }, index) => (
          // The same target may be tried twice, so the position is the key.
          <li key={index}>
            {target}: {find(`requests.attemptOutcome.${outcome.replace(/\W+/, '_')}`) ?? outcome}
            {!outcome.startsWith('skipped') &&
              ` (${t('requests.ms', { value: format.number(durationMs) })})`}
            . {whyWords(attempt)}
          </li>
        ))}
      </ol>
    </>
  )
}
