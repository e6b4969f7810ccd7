// Tested by src/plan/policy/evaluate-policy.test.ts.
/** Builds the status of a policy and its messages, step by step as the evaluation goes on. */
import type { ConfigurationPolicy, PolicyStatus, RelatedObject, TemplateStatus } from './configuration-policy.ts'
import { goValue } from './go-value.ts'
import type { GoObject } from './go-value.ts'
import type { TemplateVerdict } from './messages.ts'
import type { PolicyTools } from './policy-ports.ts'

const MOST_HISTORY = 10
const MOST_MESSAGE = 4096
const CUT = '...[truncated]'

/** The status in the making. */
export class StatusWriter {
  readonly #policy: ConfigurationPolicy
  readonly #tools: PolicyTools
  #details: TemplateStatus[] = []
  #related: readonly RelatedObject[] = []
  #compliant = ''
  #isEvaluated = false
  #history: string[] = []
  readonly #messages: string[] = []

  readonly #time: string

  constructor(policy: ConfigurationPolicy, tools: PolicyTools, time: string) {
    this.#policy = policy
    this.#tools = tools
    this.#time = time
  }

  /** Sets the state of an object template, and says whether it is new. */
  set(index: number, { compliant, reason, message: given }: TemplateVerdict): boolean {
    const message = given + this.#neverAgain(compliant)
    while (this.#details.length <= index) this.#details.push({ conditions: [], Validity: {} })
    const detail = this.#details[index]!
    const state = compliant ? 'Compliant' : 'NonCompliant'
    const type = compliant ? 'notification' : 'violation'
    const [old] = detail.conditions!
    const isNew =
      detail.Compliant !== state ||
      old?.reason !== (reason || undefined) ||
      old?.message !== message ||
      old.type !== type
    detail.Compliant = state
    const condition = { type, status: 'True' as const, lastTransitionTime: this.#time, message }
    detail.conditions = [{ ...condition, ...(reason !== '' && { reason }) }]
    return isNew
  }

  #neverAgain(compliant: boolean): string {
    const field = compliant ? 'compliant' : 'noncompliant'
    if (this.#policy.interval[field] !== 'never') return ''
    return `. This policy will not be evaluated again due to spec.evaluationInterval.${field} being set to "never".`
  }

  /** A violation of the policy as a whole: it takes the place of all details. */
  fail(reason: string, message: string): void {
    this.#details = []
    this.set(0, { compliant: false, reason, message })
    this.send()
  }

  /** The objects of the status. */
  relate(objects: readonly RelatedObject[]): void {
    this.#related = objects
  }

  /** Sends the message of the state as it is now. */
  send(): void {
    this.#judge()
    const message = this.#message()
    this.#messages.push(message)
    this.#history = [message, ...this.#history].slice(0, MOST_HISTORY)
  }

  /** The same, if the state or the message differs from the last state or message. */
  sendIfNew(): void {
    const before = this.#compliant
    this.#judge()
    if (before !== this.#compliant) this.send()
    else if (this.#history[0] !== this.#message()) this.#history = [this.#message(), ...this.#history]
  }

  #judge(): void {
    this.#isEvaluated = true
    if (this.#details.length === 0) this.#compliant = ''
    else {
      const isWrong = this.#details.some(({ Compliant }) => Compliant === 'NonCompliant')
      this.#compliant = isWrong ? 'NonCompliant' : 'Compliant'
    }
  }

  result(): { readonly status: PolicyStatus; readonly messages: readonly string[] } {
    return { status: this.#status(), messages: this.#messages }
  }

  #status(): PolicyStatus {
    return {
      ...(this.#compliant !== '' && { compliant: this.#compliant }),
      ...(this.#details.length > 0 && {
        compliancyDetails: this.#details.map(({ conditions = [], ...detail }) => ({
          ...detail,
          ...(conditions.length > 0 && { conditions }),
        })),
      }),
      ...(this.#isEvaluated && { lastEvaluated: this.#time }),
      ...(this.#related.length > 0 && { relatedObjects: this.#related }),
      ...(this.#history.length > 0 && {
        history: this.#history.map((message) => ({ lastTimestamp: this.#time, message })),
      }),
    }
  }

  #message(): string {
    const message = this.#wholeMessage()
    const bytes = new TextEncoder().encode(message)
    if (bytes.length <= MOST_MESSAGE) return message
    return new TextDecoder().decode(bytes.subarray(0, MOST_MESSAGE - CUT.length)) + CUT
  }

  #wholeMessage(): string {
    const usual = this.#usualMessage()
    const { compliant, noncompliant } = this.#policy.customMessage
    const template = this.#compliant === 'Compliant' ? compliant : noncompliant
    if (template === '') return usual
    const policy = { ...this.#policy.object, status: this.#status() }
    const own = this.#tools.message(template, goValue({ DefaultMessage: usual, Policy: policy }) as GoObject)
    if ('error' in own) return `${usual} (failure processing the custom message: ${own.error})`
    return own.text.startsWith(`${this.#compliant}; `) ? own.text : `${this.#compliant}; ${own.text}`
  }

  #usualMessage(): string {
    if (this.#compliant === '') return 'ComplianceState is still unknown'
    // A template without a state leaves only the state of the whole.
    if (this.#details.some(({ conditions = [] }) => conditions.length === 0)) return this.#compliant
    return this.#details.reduce(
      (told, { conditions = [] }) => `${told}; ${conditions[0]!.type} - ${conditions[0]!.message}`,
      this.#compliant,
    )
  }
}
