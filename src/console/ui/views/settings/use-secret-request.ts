import { useState } from 'react'

/** Sends a request with a secret or for one. Not a mutation: its cache would keep the secret. */
export function useSecretRequest(send: () => Promise<void>) {
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const request = async () => {
    setPending(true)
    setError(null)
    try {
      await send()
    } catch (failure) {
      setError(failure)
    } finally {
      setPending(false)
    }
  }
  return { request: () => void request(), isPending, error }
}
