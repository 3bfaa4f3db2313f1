// A relative change. It has no colour: whether more is good or bad depends on the reader.
import { useFormat } from '../i18n/use-format.ts'
import { useTranslation } from '../i18n/use-translation.ts'

type ChangeProps = { readonly before: number; readonly now: number }

export function Change({ before, now }: ChangeProps) {
  const { t } = useTranslation()
  const format = useFormat()
  if (before === now) return <>{t('usage.unchanged')}</>
  return <>{before === 0 ? t('usage.new') : format.change(now / before - 1)}</>
}
