/** The syntax tree, and each node's text as Go prints it in error messages. */
import { goQuote } from './go-string.ts'

/** Where a node came from. */
export interface NodeBase {
  readonly pos: number
}

export interface TextNode extends NodeBase {
  readonly type: 'text'
  readonly text: string
}
export interface ListNode extends NodeBase {
  readonly type: 'list'
  readonly nodes: Node[]
}
export interface ActionNode extends NodeBase {
  readonly type: 'action'
  readonly line: number
  readonly pipe: PipeNode
}
export interface PipeNode extends NodeBase {
  readonly type: 'pipe'
  readonly line: number
  isAssign: boolean
  readonly decl: VariableNode[]
  readonly commands: CommandNode[]
}
export interface CommandNode extends NodeBase {
  readonly type: 'command'
  readonly args: Operand[]
}
export interface IdentifierNode extends NodeBase {
  readonly type: 'identifier'
  readonly name: string
}
export interface VariableNode extends NodeBase {
  readonly type: 'variable'
  readonly names: readonly string[]
}
export interface DotNode extends NodeBase {
  readonly type: 'dot'
}
export interface NilNode extends NodeBase {
  readonly type: 'nil'
}
export interface FieldNode extends NodeBase {
  readonly type: 'field'
  readonly names: readonly string[]
}
export interface ChainNode extends NodeBase {
  readonly type: 'chain'
  readonly node: Operand
  readonly fields: string[]
}
export interface BoolNode extends NodeBase {
  readonly type: 'bool'
  readonly value: boolean
}
export interface NumberNode extends NodeBase {
  readonly type: 'number'
  readonly text: string
  readonly int: bigint | undefined
  readonly uint: bigint | undefined
  readonly float: number | undefined
  readonly isComplex: boolean
}
export interface StringNode extends NodeBase {
  readonly type: 'string'
  readonly quoted: string
  readonly text: string
}
export interface BranchNode extends NodeBase {
  readonly type: 'if' | 'range' | 'with'
  readonly line: number
  readonly pipe: PipeNode
  readonly list: ListNode
  readonly elseList: ListNode | undefined
}
export interface BreakNode extends NodeBase {
  readonly type: 'break' | 'continue'
  readonly line: number
}
export interface TemplateNode extends NodeBase {
  readonly type: 'template'
  readonly line: number
  readonly name: string
  readonly pipe: PipeNode | undefined
}

/** What may stand as an argument. */
export type Operand =
  | IdentifierNode
  | VariableNode
  | DotNode
  | NilNode
  | FieldNode
  | ChainNode
  | BoolNode
  | NumberNode
  | StringNode
  | PipeNode

/** What may stand in a list. */
export type Node = TextNode | ActionNode | BranchNode | BreakNode | TemplateNode

/** Any node. */
export type AnyNode = Node | ListNode | CommandNode | Operand

/**
 * The chains of fields below one field of the data that a node names: `.Values.a.b` and `$.Values.c` give `[a, b]` and
 * `[c]`.
 */
export function fieldsRead(node: AnyNode, field: string): (readonly string[])[] {
  switch (node.type) {
    case 'action':
      return fieldsRead(node.pipe, field)
    case 'pipe':
      return node.commands.flatMap((command) => command.args.flatMap((arg) => fieldsRead(arg, field)))
    case 'chain':
      return fieldsRead(node.node, field)
    case 'field':
      return node.names[0] === field ? [node.names.slice(1)] : []
    case 'variable':
      return node.names[0] === '$' && node.names[1] === field ? [node.names.slice(2)] : []
    default:
      return []
  }
}

/** A node as Go's String prints it. */
export function nodeText(node: AnyNode): string {
  switch (node.type) {
    case 'text':
      return node.text
    case 'list':
      return node.nodes.map(nodeText).join('')
    case 'action':
      return `{{${nodeText(node.pipe)}}}`
    case 'pipe': {
      const decl = node.decl.length > 0 ? `${node.decl.map(nodeText).join(', ')} ${node.isAssign ? '=' : ':='} ` : ''
      return decl + node.commands.map(nodeText).join(' | ')
    }
    case 'command':
      return node.args.map((arg) => (arg.type === 'pipe' ? `(${nodeText(arg)})` : nodeText(arg))).join(' ')
    case 'identifier':
      return node.name
    case 'variable':
      return node.names.join('.')
    case 'dot':
      return '.'
    case 'nil':
      return 'nil'
    case 'field':
      return node.names.map((name) => `.${name}`).join('')
    case 'chain': {
      const base = node.node.type === 'pipe' ? `(${nodeText(node.node)})` : nodeText(node.node)
      return base + node.fields.map((name) => `.${name}`).join('')
    }
    case 'bool':
      return String(node.value)
    case 'number':
      return node.text
    case 'string':
      return node.quoted
    case 'if':
    case 'range':
    case 'with': {
      const otherwise = node.elseList ? `{{else}}${nodeText(node.elseList)}` : ''
      return `{{${node.type} ${nodeText(node.pipe)}}}${nodeText(node.list)}${otherwise}{{end}}`
    }
    case 'break':
    case 'continue':
      return `{{${node.type}}}`
    case 'template':
      return `{{template ${goQuote(node.name)}${node.pipe ? ` ${nodeText(node.pipe)}` : ''}}}`
  }
}
