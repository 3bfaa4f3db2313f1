// A QR code as a picture: dark on white in every theme, with the white margin that scanners need.
import { useMemo } from 'react'
import { encode } from 'uqr'
import styles from './profile.module.css'

type QrPictureProps = { readonly text: string; readonly label: string }

/** The white margin in modules, as the standard requires. */
const quiet = 4

export function QrPicture({ text, label }: QrPictureProps) {
  const { size, data } = useMemo(() => encode(text, { ecc: 'M', border: quiet }), [text])
  const dark = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
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
