/** Go's net.ParseIP: four or sixteen bytes, undefined for no address. */
export function parseIp(text: string): Uint8Array | undefined {
  const four = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (four) {
    const parts = four.slice(1)
    if (parts.some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith('0')))) return undefined
    return Uint8Array.from(parts, Number)
  }
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(':')) return undefined
  const [head, tail] = text.split('::') as [string, string?]
  if (text.split('::').length > 2) return undefined
  const groups = (part: string): number[] | undefined => {
    if (part === '') return []
    const found: number[] = []
    for (const group of part.split(':')) {
      const embedded = group.includes('.') ? parseIp(group) : undefined
      if (embedded) found.push((embedded[0]! << 8) | embedded[1]!, (embedded[2]! << 8) | embedded[3]!)
      else if (/^[0-9a-fA-F]{1,4}$/.test(group)) found.push(Number.parseInt(group, 16))
      else return undefined
    }
    return found
  }
  const [before, after] = [groups(head), groups(tail ?? '')]
  if (!before || !after) return undefined
  const missing = 8 - before.length - after.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const all = [...before, ...Array.from({ length: missing }, () => 0), ...after]
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 255]))
}
