/** Whether the text is a valid `Host`: a name or an address, perhaps with a port (RFC 3986, 3.2.2). */
export function isHost(text: string): boolean {
  return /^[\w.~!$&'()*+,;=%:[\]-]+$/.test(text) && URL.canParse(`http://${text}`)
}

/** Whether a host, perhaps with a port, names this machine. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host)
}
