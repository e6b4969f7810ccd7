/** Taints and tolerations as Kubernetes matches them. */
import type { ClusterToleration, KarmadaTaint } from './types.ts'

/** Whether a toleration covers a taint. */
export function tolerates(
  { key = '', operator = '', value = '', effect = '' }: ClusterToleration,
  taint: KarmadaTaint,
): boolean {
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '')
}
