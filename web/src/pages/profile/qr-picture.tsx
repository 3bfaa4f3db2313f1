// A QR code as a picture: dark on white in every theme, with the white around it that readers need.
import { useMemo } from 'react'
import { qrCode } from './qr-code.ts'
import styles from './profile.module.css'

type QrPictureProps = { readonly text: string; readonly label: string }

const quiet = 4

export function QrPicture({ text, label }: QrPictureProps) {
  const code = useMemo(() => qrCode(text), [text])
  const size = code.length + 2 * quiet
  const dark = code.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x + quiet} ${y + quiet}h1v1h-1z` : [])),
  )
  return (
    <svg
      className={styles['code']}
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}
