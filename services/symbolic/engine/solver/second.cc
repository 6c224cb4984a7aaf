// cvc5 behind second.h. In C++, since Debian 12 has no other interface of it.
#include "solver/second.h"

#include <cvc5/cvc5.h>

#include <setjmp.h>
#include <signal.h>

#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

using cvc5::Kind;
using cvc5::Sort;
using cvc5::Term;

namespace
{

struct untranslatable : std::exception {
};

// One question: its terms in both solvers.
class question
{
  public:
    question(Z3_context context, cvc5::Solver &with) : z(context), solver(with)
    {
    }

    Term term(Z3_ast ast);
    Z3_model model();

  private:
    Z3_context z;
    cvc5::Solver &solver;
    std::unordered_map<unsigned, Term> done;
    std::vector<std::pair<Z3_func_decl, Term>> unknowns;

    Sort sort(Z3_sort of);
    bool is_unit(Z3_ast ast);
    Term unit(Z3_ast ast);
    Term application(Z3_ast ast);
    Term apply(Z3_decl_kind kind, Z3_app app, const std::vector<Term> &parts);
    Z3_ast back(const Term &value);
    Z3_ast array_back(const Term &value, Z3_sort of);
};

Sort question::sort(Z3_sort of)
{
    if (Z3_is_string_sort(z, of))
        return solver.getStringSort();
    switch (Z3_get_sort_kind(z, of)) {
    case Z3_BOOL_SORT:
        return solver.getBooleanSort();
    case Z3_INT_SORT:
        return solver.getIntegerSort();
    case Z3_REAL_SORT:
        return solver.getRealSort();
    case Z3_FLOATING_POINT_SORT:
        return solver.mkFloatingPointSort(Z3_fpa_get_ebits(z, of), Z3_fpa_get_sbits(z, of));
    case Z3_BV_SORT:
        return solver.mkBitVectorSort(Z3_get_bv_sort_size(z, of));
    case Z3_ARRAY_SORT:
        return solver.mkArraySort(sort(Z3_get_array_sort_domain(z, of)),
                                  sort(Z3_get_array_sort_range(z, of)));
    default:
        throw untranslatable();
    }
}

// A string of one character, which Z3 makes of literals as it simplifies.
bool question::is_unit(Z3_ast ast)
{
    return Z3_get_ast_kind(z, ast) == Z3_APP_AST &&
           Z3_get_decl_kind(z, Z3_get_app_decl(z, Z3_to_app(z, ast))) == Z3_OP_SEQ_UNIT;
}

Term question::unit(Z3_ast ast)
{
    Z3_ast character = Z3_get_app_arg(z, Z3_to_app(z, ast), 0);
    Z3_ast_kind shape = Z3_get_ast_kind(z, character);
    if (shape != Z3_APP_AST && shape != Z3_NUMERAL_AST)
        throw untranslatable();
    Z3_app app = Z3_to_app(z, character);
    Z3_func_decl decl = Z3_get_app_decl(z, app);
    if (Z3_get_app_num_args(z, app) != 0 || Z3_get_decl_num_parameters(z, decl) != 1 ||
        Z3_get_decl_parameter_kind(z, decl, 0) != Z3_PARAMETER_INT)
        throw untranslatable();
    char escaped[24];
    snprintf(escaped, sizeof escaped, "\\u{%x}",
             static_cast<unsigned>(Z3_get_decl_int_parameter(z, decl, 0)));
    return solver.mkString(escaped, true);
}

// Terms can be deep: a stack of our own, not the machine's.
Term question::term(Z3_ast ast)
{
    std::vector<Z3_ast> open = { ast };
    while (!open.empty()) {
        Z3_ast top = open.back();
        if (done.count(Z3_get_ast_id(z, top))) {
            open.pop_back();
            continue;
        }
        bool ready = true;
        if (Z3_get_ast_kind(z, top) == Z3_APP_AST && !is_unit(top)) {
            Z3_app app = Z3_to_app(z, top);
            for (unsigned i = 0; i < Z3_get_app_num_args(z, app); i++)
                if (!done.count(Z3_get_ast_id(z, Z3_get_app_arg(z, app, i)))) {
                    open.push_back(Z3_get_app_arg(z, app, i));
                    ready = false;
                }
        }
        if (!ready)
            continue;
        done.emplace(Z3_get_ast_id(z, top), application(top));
        open.pop_back();
    }
    return done.at(Z3_get_ast_id(z, ast));
}

Term question::application(Z3_ast ast)
{
    Z3_ast_kind shape = Z3_get_ast_kind(z, ast);
    Z3_sort of = Z3_get_sort(z, ast);
    if (Z3_is_string(z, ast))
        return solver.mkString(Z3_get_string(z, ast), true);
    if (is_unit(ast))
        return unit(ast);
    if (Z3_get_sort_kind(z, of) == Z3_FLOATING_POINT_SORT && Z3_is_numeral_ast(z, ast)) {
        // By way of its bits, which Z3 folds to a numeral.
        Z3_ast bits = Z3_simplify(z, Z3_mk_fpa_to_ieee_bv(z, ast));
        uint64_t number;
        if (!bits || !Z3_get_numeral_uint64(z, bits, &number))
            throw untranslatable();
        return solver.mkFloatingPoint(11, 53, solver.mkBitVector(64, number));
    }
    if (shape == Z3_NUMERAL_AST) {
        Z3_sort_kind kind = Z3_get_sort_kind(z, of);
        if (kind == Z3_INT_SORT)
            return solver.mkInteger(std::string(Z3_get_numeral_string(z, ast)));
        if (kind == Z3_REAL_SORT)
            return solver.mkReal(std::string(Z3_get_numeral_string(z, ast)));
        if (kind == Z3_BV_SORT)
            return solver.mkBitVector(Z3_get_bv_sort_size(z, of),
                                      std::string(Z3_get_numeral_string(z, ast)), 10);
    }
    if (shape != Z3_APP_AST && shape != Z3_NUMERAL_AST)
        throw untranslatable();
    Z3_app app = Z3_to_app(z, ast);
    std::vector<Term> parts;
    for (unsigned i = 0; i < Z3_get_app_num_args(z, app); i++)
        parts.push_back(done.at(Z3_get_ast_id(z, Z3_get_app_arg(z, app, i))));
    Z3_func_decl decl = Z3_get_app_decl(z, app);
    Z3_decl_kind kind = Z3_get_decl_kind(z, decl);
    if (kind == Z3_OP_UNINTERPRETED && parts.empty()) {
        Term fresh = solver.mkConst(sort(of), "v" + std::to_string(unknowns.size()));
        unknowns.emplace_back(decl, fresh);
        return fresh;
    }
    if (kind == Z3_OP_CONST_ARRAY)
        return solver.mkConstArray(sort(of), parts.at(0));
    return apply(kind, app, parts);
}

const std::unordered_map<int, Kind> same = {
    { Z3_OP_EQ, Kind::EQUAL },
    { Z3_OP_DISTINCT, Kind::DISTINCT },
    { Z3_OP_ITE, Kind::ITE },
    { Z3_OP_AND, Kind::AND },
    { Z3_OP_OR, Kind::OR },
    { Z3_OP_IFF, Kind::EQUAL },
    { Z3_OP_XOR, Kind::XOR },
    { Z3_OP_NOT, Kind::NOT },
    { Z3_OP_IMPLIES, Kind::IMPLIES },
    { Z3_OP_LE, Kind::LEQ },
    { Z3_OP_GE, Kind::GEQ },
    { Z3_OP_LT, Kind::LT },
    { Z3_OP_GT, Kind::GT },
    { Z3_OP_ADD, Kind::ADD },
    { Z3_OP_SUB, Kind::SUB },
    { Z3_OP_UMINUS, Kind::NEG },
    { Z3_OP_MUL, Kind::MULT },
    { Z3_OP_DIV, Kind::DIVISION },
    { Z3_OP_IDIV, Kind::INTS_DIVISION },
    { Z3_OP_MOD, Kind::INTS_MODULUS },
    { Z3_OP_TO_REAL, Kind::TO_REAL },
    { Z3_OP_TO_INT, Kind::TO_INTEGER },
    { Z3_OP_SELECT, Kind::SELECT },
    { Z3_OP_STORE, Kind::STORE },
    { Z3_OP_FPA_ADD, Kind::FLOATINGPOINT_ADD },
    { Z3_OP_FPA_SUB, Kind::FLOATINGPOINT_SUB },
    { Z3_OP_FPA_NEG, Kind::FLOATINGPOINT_NEG },
    { Z3_OP_FPA_MUL, Kind::FLOATINGPOINT_MULT },
    { Z3_OP_FPA_DIV, Kind::FLOATINGPOINT_DIV },
    { Z3_OP_FPA_ABS, Kind::FLOATINGPOINT_ABS },
    { Z3_OP_FPA_SQRT, Kind::FLOATINGPOINT_SQRT },
    { Z3_OP_FPA_ROUND_TO_INTEGRAL, Kind::FLOATINGPOINT_RTI },
    { Z3_OP_FPA_EQ, Kind::FLOATINGPOINT_EQ },
    { Z3_OP_FPA_LT, Kind::FLOATINGPOINT_LT },
    { Z3_OP_FPA_GT, Kind::FLOATINGPOINT_GT },
    { Z3_OP_FPA_LE, Kind::FLOATINGPOINT_LEQ },
    { Z3_OP_FPA_GE, Kind::FLOATINGPOINT_GEQ },
    { Z3_OP_FPA_IS_NAN, Kind::FLOATINGPOINT_IS_NAN },
    { Z3_OP_FPA_IS_INF, Kind::FLOATINGPOINT_IS_INF },
    { Z3_OP_FPA_IS_ZERO, Kind::FLOATINGPOINT_IS_ZERO },
    { Z3_OP_FPA_IS_NEGATIVE, Kind::FLOATINGPOINT_IS_NEG },
    { Z3_OP_FPA_IS_POSITIVE, Kind::FLOATINGPOINT_IS_POS },
    { Z3_OP_SEQ_CONCAT, Kind::STRING_CONCAT },
    { Z3_OP_SEQ_PREFIX, Kind::STRING_PREFIX },
    { Z3_OP_SEQ_SUFFIX, Kind::STRING_SUFFIX },
    { Z3_OP_SEQ_CONTAINS, Kind::STRING_CONTAINS },
    { Z3_OP_SEQ_EXTRACT, Kind::STRING_SUBSTR },
    { Z3_OP_SEQ_REPLACE, Kind::STRING_REPLACE },
    { Z3_OP_SEQ_AT, Kind::STRING_CHARAT },
    { Z3_OP_SEQ_LENGTH, Kind::STRING_LENGTH },
    { Z3_OP_STRING_LT, Kind::STRING_LT },
    { Z3_OP_STRING_LE, Kind::STRING_LEQ },
    { Z3_OP_INT_TO_STR, Kind::STRING_FROM_INT },
    { Z3_OP_STR_TO_INT, Kind::STRING_TO_INT },
    { Z3_OP_SEQ_IN_RE, Kind::STRING_IN_REGEXP },
    { Z3_OP_SEQ_TO_RE, Kind::STRING_TO_REGEXP },
    { Z3_OP_RE_PLUS, Kind::REGEXP_PLUS },
    { Z3_OP_RE_STAR, Kind::REGEXP_STAR },
    { Z3_OP_RE_UNION, Kind::REGEXP_UNION },
    { Z3_OP_RE_RANGE, Kind::REGEXP_RANGE },
    { Z3_OP_RE_CONCAT, Kind::REGEXP_CONCAT },
};

Term question::apply(Z3_decl_kind kind, Z3_app app, const std::vector<Term> &parts)
{
    switch (kind) {
    case Z3_OP_TRUE:
        return solver.mkTrue();
    case Z3_OP_FALSE:
        return solver.mkFalse();
    case Z3_OP_FPA_RM_NEAREST_TIES_TO_EVEN:
        return solver.mkRoundingMode(cvc5::RoundingMode::ROUND_NEAREST_TIES_TO_EVEN);
    case Z3_OP_FPA_RM_TOWARD_ZERO:
        return solver.mkRoundingMode(cvc5::RoundingMode::ROUND_TOWARD_ZERO);
    case Z3_OP_FPA_RM_TOWARD_NEGATIVE:
        return solver.mkRoundingMode(cvc5::RoundingMode::ROUND_TOWARD_NEGATIVE);
    case Z3_OP_FPA_RM_TOWARD_POSITIVE:
        return solver.mkRoundingMode(cvc5::RoundingMode::ROUND_TOWARD_POSITIVE);
    case Z3_OP_FPA_NAN:
        return solver.mkFloatingPointNaN(11, 53);
    case Z3_OP_FPA_PLUS_INF:
        return solver.mkFloatingPointPosInf(11, 53);
    case Z3_OP_FPA_MINUS_INF:
        return solver.mkFloatingPointNegInf(11, 53);
    case Z3_OP_FPA_PLUS_ZERO:
        return solver.mkFloatingPointPosZero(11, 53);
    case Z3_OP_FPA_MINUS_ZERO:
        return solver.mkFloatingPointNegZero(11, 53);
    case Z3_OP_SEQ_INDEX: {
        std::vector<Term> three = parts;
        if (three.size() == 2)
            three.push_back(solver.mkInteger(0));
        return solver.mkTerm(Kind::STRING_INDEXOF, three);
    }
    case Z3_OP_AND:
    case Z3_OP_OR:
    case Z3_OP_ADD:
    case Z3_OP_MUL:
    case Z3_OP_SEQ_CONCAT:
        if (parts.size() == 1)
            return parts[0];
        break;
    default:
        break;
    }
    auto found = same.find(kind);
    if (found != same.end())
        return solver.mkTerm(found->second, parts);
    // Z3 4.8 has no kinds for these.
    Z3_symbol symbol = Z3_get_decl_name(z, Z3_get_app_decl(z, app));
    std::string name = Z3_get_symbol_kind(z, symbol) == Z3_STRING_SYMBOL
                           ? Z3_get_symbol_string(z, symbol)
                           : "";
    if (name == "str.to_code")
        return solver.mkTerm(Kind::STRING_TO_CODE, parts);
    if (name == "str.from_code")
        return solver.mkTerm(Kind::STRING_FROM_CODE, parts);
    throw untranslatable();
}

Z3_ast question::back(const Term &value)
{
    if (value.isBooleanValue())
        return value.getBooleanValue() ? Z3_mk_true(z) : Z3_mk_false(z);
    if (value.isIntegerValue())
        return Z3_mk_numeral(z, value.getIntegerValue().c_str(), Z3_mk_int_sort(z));
    if (value.isFloatingPointNaN())
        return Z3_mk_fpa_nan(z, Z3_mk_fpa_sort_64(z));
    if (value.isFloatingPointPosInf() || value.isFloatingPointNegInf())
        return Z3_mk_fpa_inf(z, Z3_mk_fpa_sort_64(z), value.isFloatingPointNegInf());
    if (value.isFloatingPointPosZero() || value.isFloatingPointNegZero())
        return Z3_mk_fpa_zero(z, Z3_mk_fpa_sort_64(z), value.isFloatingPointNegZero());
    if (value.isFloatingPointValue()) {
        std::string bits = std::get<2>(value.getFloatingPointValue()).getBitVectorValue(10);
        return Z3_simplify(
            z, Z3_mk_fpa_to_fp_bv(z, Z3_mk_numeral(z, bits.c_str(), Z3_mk_bv_sort(z, 64)),
                                  Z3_mk_fpa_sort_64(z)));
    }
    if (value.isStringValue()) {
        std::string escaped;
        for (wchar_t c : value.getStringValue()) {
            char unit[16];
            snprintf(unit, sizeof unit, "\\u{%x}", static_cast<unsigned>(c));
            escaped += unit;
        }
        return Z3_mk_string(z, escaped.c_str());
    }
    throw untranslatable();
}

// A chain of stores over a constant array.
Z3_ast question::array_back(const Term &value, Z3_sort of)
{
    if (value.isConstArray())
        return Z3_mk_const_array(z, Z3_get_array_sort_domain(z, of),
                                 back(value.getConstArrayBase()));
    if (value.getKind() == Kind::STORE)
        return Z3_mk_store(z, array_back(value[0], of), back(value[1]), back(value[2]));
    throw untranslatable();
}

Z3_model question::model()
{
    Z3_model made = Z3_mk_model(z);
    Z3_model_inc_ref(z, made);
    try {
        for (auto &unknown : unknowns) {
            Z3_sort of = Z3_get_range(z, unknown.first);
            Term value = solver.getValue(unknown.second);
            Z3_add_const_interp(z, made, unknown.first,
                                Z3_get_sort_kind(z, of) == Z3_ARRAY_SORT ? array_back(value, of)
                                                                         : back(value));
        }
    } catch (...) {
        Z3_model_dec_ref(z, made);
        return nullptr;
    }
    return made;
}

} // namespace

// Where cvc5 finds a mistake of its own it ends the process: then there is no answer, what it held
// is lost, and it is not asked again.
static thread_local sigjmp_buf aborted;
static bool lost;

static void leave(int)
{
    siglongjmp(aborted, 1);
}

static answer check(Z3_context z, Z3_ast_vector assertions, int limit_ms, Z3_model *model)
{
    try {
        cvc5::Solver solver;
        solver.setOption("tlimit-per", std::to_string(limit_ms));
        solver.setOption("strings-exp", "true");
        if (model)
            solver.setOption("produce-models", "true");
        solver.setLogic("ALL");
        question asked(z, solver);
        for (unsigned i = 0; i < Z3_ast_vector_size(z, assertions); i++)
            solver.assertFormula(asked.term(Z3_ast_vector_get(z, assertions, i)));
        cvc5::Result found = solver.checkSat();
        if (found.isUnsat())
            return ANSWER_UNSAT;
        if (!found.isSat())
            return ANSWER_UNKNOWN;
        if (model)
            *model = asked.model();
        return ANSWER_SAT;
    } catch (...) {
        return ANSWER_UNKNOWN;
    }
}

extern "C" answer second_check(Z3_context z, Z3_ast_vector assertions, int limit_ms,
                               Z3_model *model)
{
    struct sigaction ours = {}, before = {};
    ours.sa_handler = leave;
    sigaction(SIGABRT, &ours, &before);
    answer found = ANSWER_UNKNOWN;
    if (sigsetjmp(aborted, 1) == 0)
        found = check(z, assertions, limit_ms, model);
    else
        lost = true;
    sigaction(SIGABRT, &before, nullptr);
    return found;
}

extern "C" bool second_is_there(void)
{
    return !lost;
}

extern "C" const char *second_version(void)
{
    static std::string version;
    try {
        if (version.empty()) {
            cvc5::Solver solver;
            version = solver.getVersion();
        }
    } catch (...) {
        version = "1";
    }
    return version.c_str();
}
