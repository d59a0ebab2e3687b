/** Card numbers by network, from their first digits and length (ISO/IEC 7812 and the networks' published ranges). */
const networks =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|64[4-9]\d|65\d\d|60\d\d|8[12]\d\d|62\d\d|35\d\d)\d{12}|(?:5[06789]|6\d)\d{14})$/

/** Whether the digits are a payment card number: from a known network, with the right check digit. */
export function isCard(digits: string): boolean {
  return networks.test(digits) && luhnSum(digits) % 10 === 0
}

/** The Luhn sum (ISO/IEC 7812-1, annex B): every second digit from the right is doubled, minus 9 if that exceeds 9. */
function luhnSum(digits: string): number {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place])
    sum += place % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)
  }
  return sum
}
