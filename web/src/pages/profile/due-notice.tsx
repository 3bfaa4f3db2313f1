// Above every page while a second factor is required of the reader, who lacks it.
import { Box, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useNow } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { Notice } from '../../parts/notices.tsx'

export function DueNotice({ dueAt }: { readonly dueAt: string }) {
  const { t, format } = useTranslation()
  const isOverdue = Date.parse(dueAt) <= useNow()
  return (
    <Box mb="lg">
      <Notice
        tone={isOverdue ? 'bad' : 'warn'}
        title={
          isOverdue
            ? t('secondFactor.overdue')
            : t('secondFactor.due', { moment: format.dateTime(dueAt) })
        }
        actions={
          <Button component={Link} to="/settings/profile" size="compact-sm" variant="default">
            {t('secondFactor.setUp')}
          </Button>
        }
      />
    </Box>
  )
}
