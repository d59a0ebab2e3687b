/** The logo: a sound wave on a book cover. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" role="img" aria-label="Callbook" className="cb-logo">
      <rect width="32" height="32" rx="8" fill="#5b5bd6" />
      <path
        d="M9.5 13v6M14 8.5v15M18.5 11v10M23 14.5v3"
        stroke="#ffffff"
        strokeWidth="2.5"
        strokeLinecap="round"
        fill="none"
      />
    </svg>
  )
}
