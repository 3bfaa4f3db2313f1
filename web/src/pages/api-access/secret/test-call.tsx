// One small call with the key, made by the gateway itself: shows that the key works, or the error a program would get.
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { keyRoutes } from '../../../../../src/admin/contract/keys.ts'
import type { CallResult } from '../../../../../src/admin/contract/calls.ts'
import { call, modelAnswerMsMax } from '../../../api.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { CallRefusal } from '../../../parts/call-refusal.tsx'
import { ErrorAlert } from '../../../parts/error-alert.tsx'
import { PlayIcon } from '../../../parts/icons.tsx'
import { Notice } from '../../../parts/notice.tsx'
import { useRefreshKeys } from '../key-in-brief.ts'
import styles from './secret-dialog.module.css'

export function TestCall({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const refresh = useRefreshKeys()
  const test = useMutation({
    mutationFn: () =>
      call(keyRoutes.testKey, { params: { id }, body: {}, timeoutMs: modelAnswerMsMax }),
    onSuccess: refresh,
  })
  return (
    <div>
      <Button
        variant="default"
        leftSection={<PlayIcon />}
        loading={test.isPending}
        onClick={() => test.mutate()}
      >
        {t('testCall.run')}
      </Button>
      <div aria-live="polite" className={styles['result']}>
        {test.data && <TestResult result={test.data} />}
        {test.error && <ErrorAlert title={t('testCall.notMade')} error={test.error} />}
      </div>
    </div>
  )
}

function TestResult({ result }: { readonly result: CallResult }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (result.error)
    return (
      <Notice tone="bad" title={t('testCall.refused', { status: result.status })}>
        <CallRefusal error={result.error} />
        <small className="muted">
          <code>{result.error.code}</code> · {t('error.requestId')} <code>{result.request_id}</code>
        </small>
      </Notice>
    )
  return (
    <Notice tone="good" title={t('testCall.passed', { model: result.model })}>
      {t('testCall.facts', {
        input: format.number(result.input_tokens),
        output: format.number(result.output_tokens),
        cost: format.money(result.cost),
        latency: format.number(result.latency_ms),
      })}
    </Notice>
  )
}
