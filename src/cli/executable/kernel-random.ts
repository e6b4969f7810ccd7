/** Random bytes from the kernel. Loading Node's crypto takes a third of the time to render a chart. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { systemIds } from '../../core/system-ids.ts'

/** Random bytes of the device. Defaults to Node's crypto if the system has no such device. */
export function kernelRandom(length: number, device = '/dev/urandom'): Uint8Array {
  const bytes = new Uint8Array(length)
  return isFilled(bytes, device) ? bytes : systemIds.bytes(length)
}

function isFilled(bytes: Uint8Array, device: string): boolean {
  let descriptor: number
  try {
    descriptor = openSync(device, 'r')
  } catch {
    return false
  }
  try {
    return fstatSync(descriptor).isCharacterDevice() && readSync(descriptor, bytes) === bytes.length
  } finally {
    closeSync(descriptor)
  }
}
