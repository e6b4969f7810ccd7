/** Amounts of resources as Kubernetes counts them. */
import { parseQuantity } from '../../../core/text/quantity.ts'

/** An amount of a resource. */
export interface Amount {
  /** The amount in whole units, rounded up. */
  readonly whole: number
  /** The amount in thousandths, rounded up. */
  readonly milli: number
  /** True for amounts that are written in steps of 1024, such as `4Gi`. */
  readonly isBinary: boolean
}

const NANO_PER_MILLI = 1_000_000n
const NANO_PER_UNIT = 1_000_000_000n

/** Billionths of a quantity; 0 for what is absent or no quantity. */
export function nanoOf(value: string | number | undefined): bigint {
  return (value === undefined ? undefined : parseQuantity(value))?.nano ?? 0n
}

/** An amount of billionths as Kubernetes counts it. */
export function amountOf(nano: bigint, isBinary: boolean): Amount {
  return { whole: roundUp(nano, NANO_PER_UNIT), milli: roundUp(nano, NANO_PER_MILLI), isBinary }
}

/** Rounds away from zero, as Kubernetes rounds quantities. */
function roundUp(nano: bigint, unit: bigint): number {
  const whole = nano / unit
  const rest = nano % unit
  return Number(rest === 0n ? whole : whole + (nano < 0n ? -1n : 1n))
}
