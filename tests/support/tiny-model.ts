import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Words with one number mean the same to the model. */
const meanings: Record<string, number> = {
  refund: 1,
  money: 1,
  back: 1,
  opening: 2,
  hours: 2,
  open: 2,
  dog: 3,
}
const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
const vocabulary = [...special, ...Object.keys(meanings)]
export const tinyDimensions = 8

/**
 * The files of an embedding model as they are on the hub: a table with one vector a word. It knows few words.
 * @param pooling as in `1_Pooling/config.json`; null leaves the file out
 */
export function tinyModel(
  pooling: object | null = { pooling_mode_mean_tokens: true },
): Record<string, Buffer> {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  return {
    'config.json': json({ model_type: 'bert', architectures: ['BertModel'], max_position_embeddings: 16 }),
    'tokenizer.json': json(tokenizer()),
    // Without a limit of its own, as some have it.
    'tokenizer_config.json': json({ tokenizer_class: 'BertTokenizer', model_max_length: 1e30 }),
    'onnx/model.onnx': onnxModel(),
    ...(pooling ? { '1_Pooling/config.json': json(pooling) } : {}),
  }
}

export function writeModel(folder: string, files = tinyModel()): string {
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), bytes)
  }
  return folder
}

function tokenizer() {
  const vocab = Object.fromEntries(vocabulary.map((word, id) => [word, id]))
  const token = (content: string) => ({ id: vocab[content], content, special: true, normalized: false })
  const specialToken = (id: string) => [id, { id, ids: [vocab[id]], tokens: [id] }]
  return {
    version: '1.0',
    added_tokens: special.map(token),
    normalizer: { type: 'BertNormalizer', lowercase: true, clean_text: true },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      special_tokens: Object.fromEntries(['[CLS]', '[SEP]'].map(specialToken)),
    },
    decoder: { type: 'WordPiece', prefix: '##' },
    model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', vocab },
  }
}

/** One dimension for each meaning; what marks the beginning and the end, and unknown words, has a weak one. */
function vectors(): Float32Array {
  const table = new Float32Array(vocabulary.length * tinyDimensions)
  for (const [id, word] of vocabulary.entries()) {
    const meaning = meanings[word]
    const at = meaning === undefined ? (word === '[CLS]' ? 4 : word === '[SEP]' ? 5 : 6) : meaning
    table[id * tinyDimensions + at] = meaning === undefined ? 0.1 : 1
  }
  return table
}

// ONNX is protobuf: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto

const float = 1
const int64 = 7

function onnxModel(): Buffer {
  const table = message(
    number(1, vocabulary.length),
    number(1, tinyDimensions),
    number(2, float),
    text(8, 'table'),
    bytes(9, Buffer.from(vectors().buffer)),
  )
  const gather = message(
    text(1, 'table'),
    text(1, 'input_ids'),
    text(2, 'last_hidden_state'),
    text(4, 'Gather'),
  )
  const inputs = ['input_ids', 'attention_mask', 'token_type_ids'].map((name) =>
    bytes(11, valueInfo(name, int64, ['batch', 'tokens'])),
  )
  const output = valueInfo('last_hidden_state', float, ['batch', 'tokens', 'dimensions'])
  const graph = message(bytes(1, gather), text(2, 'tiny'), bytes(5, table), ...inputs, bytes(12, output))
  return message(number(1, 8), bytes(7, graph), bytes(8, message(text(1, ''), number(2, 17))))
}

function valueInfo(name: string, type: number, dimensions: string[]): Buffer {
  const shape = message(...dimensions.map((dimension) => bytes(1, message(text(2, dimension)))))
  return message(text(1, name), bytes(2, message(bytes(1, message(number(1, type), bytes(2, shape))))))
}

const message = (...fields: Buffer[]) => Buffer.concat(fields)
const number = (field: number, value: number) => Buffer.concat([varint(field << 3), varint(value)])
const text = (field: number, value: string) => bytes(field, Buffer.from(value))
const bytes = (field: number, value: Buffer) =>
  Buffer.concat([varint((field << 3) | 2), varint(value.length), value])

function varint(value: number): Buffer {
  const groups: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    groups.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest)
    if (rest <= 0x7f) return Buffer.from(groups)
  }
}
